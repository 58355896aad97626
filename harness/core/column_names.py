"""What columns are usually called."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

NAMES: Mapping[str, tuple[str, ...]] = {
    role: tuple(names.split())
    for role, names in {
        "user": "userid user uid customerid custid customer customernumber clientid client "
        "visitorid visitor memberid memberno member accountid account profileid buyerid buyer "
        "useridhash reviewerid kundennummer kundenid kundennr kunde käuferid käufer clienteid "
        "cliente utilisateur usuario sessionid session sid player viewer listener reader person "
        "patient profile",
        "item": "itemid item iid articleid article productid product productcode prodid prodnr "
        "movieid movie skuid sku asin ean aid stockcode contentid trackid track songid song bookid "
        "book isbn couponid couponidhash coupon viewcouponidhash merchantid businessid artistid "
        "artikelid artikelnummer artikelnr artikel produktid produkt productoid producto produit "
        "articulo game film title video news offer app recipe playlist",
        "list": "items itemids prediction predictions predicted recommendations recommendation "
        "recs recommended articles articleids products productids movies movieids labels",
        "time": "time timestamp date datetime tdat ts eventtime createdat created when day "
        "unixtime lastwatchdt idate eventtimestamp eventdate purchasedate orderdate ordertime "
        "orderedat purchasedat viewedat invoicedate transactiondate unixreviewtime reviewtime "
        "tscreated datum zeit zeitpunkt zeitstempel bestelldatum fecha hora dateachat data "
        "updatedat",
        "kind": "event eventtype type action behavior behaviour activity eventname "
        "behaviortype behaviourtype actiontype purchaseflg purchaseflag ereignis ereignistyp "
        "aktion vorgang typ evenement événement evento accion acción azione tipo tipoevento",
        "part": "split set subset fold partition phase part dataset",
        "model": "model modelname modelid algorithm algo recommender recommendername method system "
        "experiment run runid runname repeat seed variant strategy approach fold",
        "value": "rating stars score value overall",
        "order": "orderid order ordernumber orderno invoice invoiceid invoiceno invoicenumber "
        "transactionid basketid basket receiptid receipt bestellnummer bestellid rechnungsnummer",
        "grade": "grade relevance relevant rel rating ratings label target score quantity qty "
        "count value weight gain stars overall feedback clicked bought purchased isrelevant "
        "relevancescore isbought purchase click like liked hit y ytrue gt interaction preference "
        "plays playcount units amount watched ratio frequency response reordered converted "
        "truth grades gains relevances scores qtyordered pieces menge anzahl stück stueck "
        "quantité quantite cantidad unidades quantità quantita pezzi",
        "rank": "rank ranks ranking",
        "score": "score scores yscore predscore predictedscore predictionscore prediction "
        "predictions predicted pred preds ypred yhat rating ratings predrating predictedrating "
        "estimatedrating est estimate estimated prob probs proba probability "
        "probabilities relevance weight weights",
    }.items()
}
"""Names by what the column holds, in small letters and digits alone; the first are preferred."""
DATA = "data"
"""A date in Italian and Portuguese, and anything in English: its values say which."""
_ID_WORDS = ("idx", "index", "key", "code", "hash", "num", "nr", "no")
_INDEX = re.compile(r"(unnamed: 0(\.\d+)?|index|level_\d+|__index_level_\d+__)?")


def plain(name: str) -> str:
    """Return a name in small letters, without other signs: ``customerid`` of ``Customer_ID``."""
    return re.sub(r"[\W_]", "", name.lower())


def _words(name: str) -> list[str]:
    return re.split(r"[\W_]+", name.strip().lower())


def column_of(role: str, columns: Iterable[str]) -> str | None:
    """Return the column whose name says best that it has a role.

    >>> column_of("user", ["movieId", "session", "userId"]), column_of("item", ["item_idx"])
    ('userId', 'item_idx')
    """
    names = list(columns)[::-1]
    by_name = {}
    for name in names:
        words = _words(name)
        while len(words) > 1 and words[-1] in _ID_WORDS:  # they only say that it is an id
            words.pop()
        by_name["".join(words)] = name
    by_name |= {plain(name): name for name in names}
    return next((by_name[name] for name in NAMES[role] if name in by_name), None)


def has_role(column: str, roles: Collection[str]) -> bool:
    """Return whether a column's name, or its last word, says that it has one of some roles.

    >>> has_role("Book-Rating", ["grade"]), has_role("rating_id", ["grade"])
    (True, False)
    """
    names = plain(column), _words(column)[-1]
    return any(name in NAMES[role] for role in roles for name in names)


def is_called(column: str, *roles: str) -> bool:
    """Return whether a column's whole name says that it has one of some roles.

    >>> is_called("event_type", "kind"), is_called("item_type", "kind")
    (True, False)
    """
    return any(column_of(role, [column]) is not None for role in roles)


def order_of(name: object) -> str | None:
    """Return what a column of numbers of this name is taken to hold: ``rank``, ``score`` or None.

    >>> [order_of(name) for name in ("Pred_Score", "RANK", "price")]
    ['score', 'rank', None]
    """
    text = plain(name) if isinstance(name, str) else ""
    return next((order for order in ("rank", "score") if text in NAMES[order]), None)


def divides(column: str, values: Collection[str]) -> bool:
    """Return whether a column has rows of several event types, or of several parts of the data.

    >>> divides("split", ["test", "valid"]), divides("split", ["test"]), divides("shop", "ab")
    (True, False, False)
    """
    if len(values) > 1:
        return is_called(column, "part", "kind")
    return is_called(column, "part") and {value.lower() for value in values} == {"train"}


def is_index(column: str) -> bool:
    """Return whether a column has no name, or that of a frame's index, such as ``Unnamed: 0``."""
    return _INDEX.fullmatch(column.strip().lower()) is not None
