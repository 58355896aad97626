"""Numbers that name partitions."""

from sklearn.utils import murmurhash3_32

from harness.spark.reading import keys_of


def test_every_bucket_has_a_partition_of_its_own() -> None:
    """Spark's partition of a number is its MurmurHash3, with seed 42, modulo their count."""
    for count in (1, 7, 64):
        partitions = [murmurhash3_32(key, seed=42) % count for key in keys_of(count)]
        assert partitions == list(range(count))
