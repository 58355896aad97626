"""A submission in DuckDB, by hand: scored (``score``), or checked and scored (``checks``).

``python duckdb_submission.py score|checks FOLDER FILE`` prints the values that both sides must share.
"""

import sys

import duckdb

MODE, FOLDER, FILE = sys.argv[1:4]
SCORE = f"""
with s as (select customer_id, string_split(prediction, ' ') p
           from read_csv('{FILE}', all_varchar = true)),
t as (select customer_id, list_distinct(string_split(prediction, ' ')) t
      from read_csv('{FOLDER}/solution.csv', all_varchar = true)),
j as (select customer_id, p, t from s join t using (customer_id)),
u as (select customer_id, unnest(p) item, unnest(range(1, len(p) + 1)) r, t from j),
h as (select customer_id, r, len(t) n, row_number() over (partition by customer_id order by r) hits
      from (select customer_id, item, min(r) r, any_value(t) t from u group by 1, 2)
      where list_contains(t, item) and r <= 12)
select sum(ap) / (select count(*) from t)
from (select customer_id, sum(hits * 1.0 / r) / least(any_value(n), 12) ap from h group by 1)
"""
"""A repeated item is no second hit, as in our rule."""
CHECKS = f"""
with rows as materialized (
  select customer_id, prediction, string_split(prediction, ' ') p
  from read_csv('{FILE}', all_varchar = true)),
sample as (select customer_id from read_csv('{FOLDER}/sample.csv', all_varchar = true)),
articles as (select article_id from read_csv('{FOLDER}/articles.csv', all_varchar = true)),
words as materialized (
  select item, count(*) n from (select unnest(p) item from rows) group by item),
of_rows as (
  select count(*) n_rows, count(distinct customer_id) users,
    count(*) filter (trim(customer_id) <> customer_id) padded,
    count(*) filter (coalesce(prediction, '') = '') empty,
    count(*) filter (len(p) > 12) long, sum(len(p) - len(list_distinct(p))) repeats,
    count(*) filter (prediction <> any_value) others
  from rows, (select any_value(prediction) any_value from rows)),
of_ids as (
  select count(*) filter (r.customer_id is null) missing,
    count(*) filter (s.customer_id is null) unknown
  from sample s full join (select distinct customer_id from rows) r using (customer_id)),
of_items as (
  select coalesce(sum(n) filter (article_id is null), 0) unknown_items,
    coalesce(sum(n) filter (regexp_full_match(item, '[0-9]{{1,9}}')), 0) zeros_lost,
    coalesce(sum(n) filter (regexp_matches(item, '[^0-9]')), 0) odd
  from words left join articles on item = article_id)
select n_rows, missing, unknown, n_rows - users, padded, empty, long, repeats, unknown_items,
  zeros_lost, odd, others
from of_rows, of_ids, of_items
"""


def main() -> None:
    database = duckdb.connect()
    if MODE == "checks":
        print(database.execute(CHECKS).fetchall())
    print(database.execute(SCORE).fetchall())


if __name__ == "__main__":
    main()
