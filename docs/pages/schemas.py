"""The JSON Schemas of docs/schema, made from the types of the documents."""

from __future__ import annotations

import ast
import inspect
import json
import re
from itertools import pairwise
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from harness.core.table import SCHEMA
from harness.listing.tables import described
from pages.documents import DOCUMENTS, Document


class _Described(GenerateJsonSchema):
    """Schemas whose properties say what the classes' docstrings say of them."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Return False: a title would be the key once more."""
        return False

    def default_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema; a default of None says no more than that the key may be missing."""
        if schema.get("default", ...) is None:
            return self.generate_inner(schema["schema"])
        return super().default_schema(schema)

    def dict_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of a mapping; that its values may be anything needs no saying."""
        items = super().dict_schema(schema).items()
        return {key: value for key, value in items if value is not True}

    def model_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of a model, described."""
        return _described(schema["cls"], super().model_schema(schema))

    def dataclass_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of a dataclass, described."""
        return _described(schema["cls"], super().dataclass_schema(schema))


def _described(kind: type, schema: JsonSchemaValue) -> JsonSchemaValue:
    text, _, rest = (inspect.getdoc(kind) or "").partition("\nAttributes\n")
    schema["description"] = _in_json(" ".join(text.split()))
    meanings = {name: meaning for names, _, meaning in described(rest) for name in names}
    for name, meaning in (meanings | _below_fields(kind)).items():
        if meaning and name in schema["properties"]:
            schema["properties"][name]["description"] = _in_json(meaning)
    return schema


def _below_fields(kind: type) -> dict[str, str]:
    """Return the texts that stand below fields of a class, by the fields' names."""
    try:
        source = ast.parse(inspect.getsource(kind))
    except OSError:  # it is made of fields of another
        return {}
    return {
        ast.unparse(field.target): " ".join(str(text.value.value).split())
        for definition in source.body
        if isinstance(definition, ast.ClassDef)
        for field, text in pairwise(definition.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
    }


def _in_json(text: str) -> str:
    return re.sub(r"\bNone\b", "null", text).replace("``", "`")


def schema_of(document: Document) -> dict[str, Any]:
    """Return the JSON Schema of a document, draft 2020-12.

    Keys that it does not name are allowed: later versions add some.
    """
    schema = TypeAdapter(document.of).json_schema(
        mode="serialization", schema_generator=_Described, ref_template="#/$defs/{model}"
    )
    if "$ref" in schema:  # it holds itself
        schema = schema["$defs"][schema.pop("$ref").rpartition("/")[2]] | schema
    if document.versioned:
        version = {"const": SCHEMA, "description": "The version of the documents."}
        schema["properties"] = {"schema": version} | schema["properties"]
        schema["required"] = ["schema", *schema.get("required", [])]
    definitions = {"$defs": schema.pop("$defs")} if "$defs" in schema else {}
    head = {"$schema": _Described.schema_dialect, "title": document.title}
    return head | {**schema, "title": document.title} | definitions


def texts() -> dict[str, str]:
    """Return the files of docs/schema, by name."""
    return {
        f"{name}.json": json.dumps(schema_of(document), indent=2, ensure_ascii=False) + "\n"
        for name, document in DOCUMENTS.items()
    }
