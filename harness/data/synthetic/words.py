"""Word lists of the three shops; the fields of a row belong together."""

import polars as pl


def _rows(columns: tuple[str, ...], *rows: tuple[object, ...]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=columns, orient="row")


PRODUCTS = _rows(
    ("product_type_no", "product_type_name", "product_group_name", "garment_group_no",
     "garment_group_name", "department_no", "department_name"),
    (253, "Vest top", "Garment Upper body", 1002, "Jersey Basic", 1676, "Jersey Basic"),
    (255, "T-shirt", "Garment Upper body", 1005, "Jersey Fancy", 1919, "Jersey"),
    (252, "Sweater", "Garment Upper body", 1003, "Knitwear", 1636, "Tops Knitwear"),
    (259, "Shirt", "Garment Upper body", 1011, "Shorts", 1515, "Blouse"),
    (258, "Blouse", "Garment Upper body", 1010, "Blouses", 1522, "Blouse"),
    (262, "Jacket", "Garment Upper body", 1007, "Outdoor", 1201, "Outdoor/Blazers"),
    (272, "Trousers", "Garment Lower body", 1009, "Trousers", 1722, "Trousers"),
    (274, "Shorts", "Garment Lower body", 1025, "Shorts", 1747, "Shorts"),
    (275, "Skirt", "Garment Lower body", 1012, "Skirts", 1717, "Skirt"),
    (265, "Dress", "Garment Full body", 1013, "Dresses Ladies", 1322, "Dress"),
    (306, "Bra", "Underwear", 1017, "Under-, Nightwear", 1338, "Expressive Lingerie"),
    (298, "Bikini top", "Swimwear", 1018, "Swimwear", 4242, "Swimwear"),
    (302, "Socks", "Socks & Tights", 1021, "Socks and Tights", 3608, "Tights basic"),
    (70, "Earring", "Accessories", 1019, "Accessories", 3946, "Small Accessories"),
    (87, "Boots", "Shoes", 1020, "Shoes", 3527, "Shoes"),
)  # fmt: skip

LOOKS = _rows(
    ("graphical_appearance_no", "graphical_appearance_name"),
    (1010016, "Solid"),
    (1010017, "Stripe"),
    (1010001, "All over pattern"),
    (1010010, "Melange"),
    (1010023, "Denim"),
    (1010008, "Front print"),
    (1010021, "Lace"),
)

COLOURS = _rows(
    ("colour_group_code", "colour_group_name", "perceived_colour_value_id",
     "perceived_colour_value_name", "perceived_colour_master_id",
     "perceived_colour_master_name"),
    (9, "Black", 4, "Dark", 5, "Black"),
    (10, "White", 3, "Light", 9, "White"),
    (73, "Dark Blue", 4, "Dark", 2, "Blue"),
    (12, "Light Beige", 1, "Dusty Light", 11, "Beige"),
    (7, "Grey", 1, "Dusty Light", 12, "Grey"),
    (51, "Light Pink", 1, "Dusty Light", 4, "Pink"),
    (42, "Red", 2, "Medium Dusty", 18, "Red"),
    (19, "Greenish Khaki", 2, "Medium Dusty", 20, "Khaki green"),
)  # fmt: skip

INDEXES = _rows(
    ("index_code", "index_name", "index_group_no", "index_group_name", "section_no",
     "section_name"),
    ("A", "Ladieswear", 1, "Ladieswear", 15, "Womens Everyday Collection"),
    ("D", "Divided", 2, "Divided", 53, "Divided Collection"),
    ("F", "Menswear", 3, "Menswear", 26, "Men Underwear"),
    ("B", "Lingeries/Tights", 1, "Ladieswear", 61, "Womens Lingerie"),
    ("S", "Sport", 26, "Sport", 5, "Ladies H&M Sport"),
    ("C", "Ladies Accessories", 1, "Ladieswear", 66, "Womens Small accessories"),
    ("H", "Children Sizes 92-140", 4, "Baby/Children", 76, "Kids Girl"),
    ("I", "Children Sizes 134-170", 4, "Baby/Children", 77, "Young Girl"),
    ("G", "Baby Sizes 50-98", 4, "Baby/Children", 44, "Baby Girl"),
    ("J", "Children Accessories, Swimwear", 4, "Baby/Children", 43, "Kids Accessories"),
)  # fmt: skip
"""H&M: the taste groups."""

NAMES = ("Strap top", "Jade", "Tilda", "Luna", "Perrie", "Simple", "Gyda", "Cat", "Timeless", "Box")
FABRICS = ("jersey", "airy viscose", "organic cotton", "soft rib-knit", "washed denim", "satin")
CUTS = ("narrow shoulder straps", "a round neckline", "long sleeves", "an elasticated waist")

GENRES = _rows(
    ("CAPSULE_TEXT", "GENRE_NAME"),
    ("食品・飲料", "宅配"),
    ("グルメ", "グルメ"),
    ("ホテル", "ホテル・旅館"),
    ("ヘアサロン", "ヘアサロン"),
    ("エステ", "エステ"),
    ("リラクゼーション", "リラクゼーション"),
    ("レジャー", "レジャー"),
    ("ネイル・アイ", "ネイル・アイ"),
    ("その他", "その他のクーポン"),
    ("ギフトカード", "ギフトカード"),
    ("レッスン", "レッスン"),
    ("ビューティー", "健康・医療"),
    ("Web・講座", "通信講座"),
)
"""Ponpare: the taste groups."""

AREAS = _rows(
    ("large_area_name", "ken_name", "small_area_name"),
    ("関東", "東京都", "銀座・新橋・東京・上野"),
    ("関東", "東京都", "新宿・高田馬場・中野・吉祥寺"),
    ("関東", "神奈川県", "横浜"),
    ("関東", "埼玉県", "埼玉"),
    ("関東", "千葉県", "千葉"),
    ("関西", "大阪府", "キタ"),
    ("関西", "京都府", "京都"),
    ("関西", "兵庫県", "兵庫"),
    ("東海", "愛知県", "名古屋"),
    ("九州・沖縄", "福岡県", "福岡"),
    ("北海道", "北海道", "札幌"),
    ("東北", "宮城県", "宮城"),
    ("中国", "広島県", "広島"),
    ("北信越", "新潟県", "新潟"),
)

FILM_GENRES = (
    "драмы", "комедии", "триллеры", "мультфильм", "боевики", "мелодрамы",
    "ужасы", "фантастика", "детективы", "документальное",
)  # fmt: skip
"""KION: genres; the taste groups."""

FILM_NOUNS = _rows(
    ("_noun_ru", "_noun_en"),
    ("Дом", "House"), ("Берег", "Shore"), ("Поезд", "Train"), ("Город", "City"),
    ("Остров", "Island"), ("Сад", "Garden"), ("Мост", "Bridge"), ("Голос", "Voice"),
)  # fmt: skip
FILM_ADJECTIVES = _rows(
    ("_adjective_ru", "_adjective_en"),
    ("Северный", "Northern"), ("Последний", "Last"), ("Тихий", "Quiet"), ("Новый", "New"),
    ("Далёкий", "Distant"), ("Красный", "Red"), ("Ночной", "Night"), ("Белый", "White"),
)  # fmt: skip
COUNTRIES = ("Россия", "США", "СССР", "Великобритания", "Франция", "Япония", "США, Канада")
PEOPLE = (
    "Иван Петров", "Анна Смирнова", "Мария Орлова", "Олег Белов", "John Hill", "Jane Wood",
    "Пьер Моро", "Юки Сато",
)  # fmt: skip
