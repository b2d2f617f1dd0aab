/** The words that a statement takes as names only in quotes: those of DuckDB's parser, and two that begin parts of this service's statements. */
export const keywords: ReadonlySet<string> = new Set(
  [
    'all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create default deferrable desc',
    'describe distinct do else end except false fetch for foreign from group having in initially intersect into lambda lateral leading',
    'limit not null offset on only or order pivot pivot_longer pivot_wider placing primary qualify references returning select show some',
    'summarize symmetric table then to trailing true union unique unpivot using variadic when where window with',
    'between bigint bit boolean char character coalesce columns dec decimal exists extract float generated grouping grouping_id inout int',
    'integer interval map national nchar none nullif numeric out overlay position precision real row setof smallint struct substring time',
    'timestamp treat trim try_cast values varchar xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi',
    'xmlroot xmlserialize xmltable',
    'anti asof at authorization binary by collation concurrently cross freeze full glob ilike inner is isnull join left like natural notnull',
    'outer overlaps positional right semi similar tablesample unpack verbose',
    'predict set',
  ].flatMap((words) => words.split(' ')),
)
