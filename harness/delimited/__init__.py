"""The one reader of delimited text: a stream of bytes, blocks of whole lines, fields."""
