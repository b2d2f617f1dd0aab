import { Random } from '../../../src/models/numerics/random.js'

export type Kind = 'int' | 'num' | 'text' | 'bool' | 'date' | 'time' | 'ints' | 'texts' | 'struct' | 'json'
export type Column = { name: string; kind: Kind }
export const kinds: readonly Kind[] = ['int', 'num', 'text', 'bool', 'date', 'time', 'ints', 'texts', 'struct', 'json']

/** Draws that follow from a seed alone. */
export class Draw {
  private readonly random: Random
  private names = 0
  constructor(seed: number) {
    this.random = new Random(seed, 77)
  }

  below(bound: number): number {
    return this.random.below(bound)
  }

  /** True once in so many times. */
  once(times: number): boolean {
    return this.below(times) === 0
  }

  of<T>(items: readonly [T, ...T[]] | readonly T[]): T {
    const item = items[this.below(items.length)]
    if (item === undefined) throw new RangeError('nothing to draw from')
    return item
  }

  times<T>(count: number, make: (index: number) => T): T[] {
    return Array.from({ length: count }, (_, index) => make(index))
  }

  name(prefix: string): string {
    return `${prefix}${++this.names}`
  }
}

type Rule = (e: Expressions, depth: number) => string

/** Texts with what a rewriting could trip over. */
const literalTexts = [
  `'a'`,
  `'north'`,
  `'it''s'`,
  `''`,
  `'x"y'`,
  `'-- no'`,
  `'/* no */'`,
  `'é🦆'`,
  `'1'`,
  `'%o%'`,
  `'a;b'`,
  `$$q'$$`,
  `'SELECT'`,
]

const literals: Record<Kind, readonly string[]> = {
  int: ['0', '1', '2', '7', '-3', '100', '1_000', 'NULL::INT', '9007199254740993'],
  num: ['0.5', '2.25', '-1.5', '0.0', '1e2', '50.0', 'NULL::DOUBLE', '.25'],
  text: literalTexts,
  bool: ['true', 'false', 'NULL::BOOLEAN'],
  date: [`DATE '2024-01-05'`, `'2023-12-31'::DATE`, `make_date(2024, 2, 29)`],
  time: [`TIMESTAMP '2024-01-01 06:30:00'`, `DATE '2024-01-02'::TIMESTAMP`, `make_timestamp(2024, 1, 3, 4, 5, 6.5)`],
  ints: ['[1, 2, 3]', '[NULL, 4]', '([]::INT[])', 'range(3)', 'generate_series(2, 8, 3)'],
  texts: [`['a', 'b']`, `([]::VARCHAR[])`, `string_split('x,y,z', ',')`],
  struct: [`{'a': 1, 'b': 'x'}`, `struct_pack(a := 2, b := NULL::VARCHAR)`],
  json: [`'{"k": [1, {"v": "x"}], "n": 2}'::JSON`, `json_array(1, 'x', NULL)`, `to_json('t')`],
}

/** How a value of each kind is made of others. Each gives the same on any plan: sums stay exact, orders are total. */
const rules: Record<Kind, readonly Rule[]> = {
  int: [
    (e, d) => `(${e.make('int', d)} ${e.draw.of(['+', '-', '*'])} (${e.make('int', d)} % 17))`,
    (e, d) => `(${e.make('int', d)} ${e.draw.of(['%', '//'])} ${e.draw.of(['3', '7', '0'])})`,
    (e, d) => `length(${e.make('text', d)})`,
    (e, d) => `len(${e.make(e.draw.of(['ints', 'texts']), d)})`,
    (e, d) => `${e.draw.of(['year', 'month', 'day', 'dayofweek'])}(${e.make('date', d)})`,
    (e, d) => `extract(${e.draw.of(['hour', 'minute', 'doy'])} FROM ${e.make('time', d)})`,
    (e, d) => `date_diff('day', ${e.make('date', d)}, ${e.make('date', d)})`,
    (e, d) => `try_cast(${e.make('text', d)} AS INTEGER)`,
    (e, d) => `(${e.make('bool', d)})::INT`,
    (e, d) => `abs(${e.make('int', d)} % 1000)`,
    (e, d) => `${e.make('ints', d)}[${e.draw.of(['1', '2', '-1'])}]`,
    (e, d) => `list_${e.draw.of(['sum', 'max', 'min', 'count'])}(${e.make('ints', d)})::BIGINT`,
    (e, d) => `list_reduce(list_prepend(0, ${e.make('ints', d)}), lambda p, q: coalesce(p, 0) % 99 + coalesce(q, 0) % 99)`,
    (e, d) => `${e.make('struct', d)}.a`,
    (e, d) => `struct_extract(${e.make('struct', d)}, 'a')`,
    (e, d) => `json_array_length(${e.make('json', d)}, '$.k')`,
    (e, d) => `try_cast(${e.make('json', d)}->>'$.n' AS INT)`,
    (e, d) => `position(${e.draw.of(literalTexts)} IN ${e.make('text', d)})`,
    (e, d) => `greatest(${e.make('int', d)}, ${e.make('int', d)}, 0)`,
    (e, d) => `coalesce(${e.make('int', d)}, ${e.make('int', d)})`,
    (e, d) => `nullif(${e.make('int', d)}, ${e.make('int', d)})`,
  ],
  num: [
    (e, d) => `(${e.make('num', d)} ${e.draw.of(['+', '-'])} ${e.make('num', d)})`,
    (e, d) => `(${e.make('num', d)} * ${e.draw.of(['2', '0.5', '-4'])})`,
    (e, d) => `(${e.make('int', d)})::DOUBLE`,
    (e, d) => `round(${e.make('num', d)}, ${e.draw.of(['0', '1'])})`,
    (e, d) => `${e.draw.of(['floor', 'ceil', 'abs', 'trunc'])}(${e.make('num', d)})`,
    (e, d) => `CASE WHEN ${e.make('bool', d)} THEN ${e.make('num', d)} ELSE ${e.make('num', d)} END`,
    (e, d) => `try_cast(${e.make('text', d)} AS DOUBLE)`,
    (e, d) => `epoch(${e.make('time', d)})`,
    (e, d) => `if(${e.make('bool', d)}, ${e.make('num', d)}, 0.0)`,
  ],
  text: [
    (e, d) => `${e.draw.of(['upper', 'lower', 'trim', 'reverse', 'md5'])}(${e.make('text', d)})`,
    (e, d) => `(${e.make('text', d)} || ${e.make('text', d)})`,
    (e, d) => `concat_ws('-', ${e.make('text', d)}, ${e.make('int', d)})`,
    (e, d) => `substring(${e.make('text', d)}, 1, 3)`,
    (e, d) => `${e.make('text', d)}[${e.draw.of(['1:2', '2:', ':3', '-2:', '1'])}]`,
    (e, d) => `replace(${e.make('text', d)}, 'o', '0')`,
    (e, d) => `regexp_replace(${e.make('text', d)}, '[aeiou]', '_', 'g')`,
    (e, d) => `regexp_extract(${e.make('text', d)}, '([a-z]+)', 1)`,
    (e, d) => `split_part(${e.make('text', d)}, ' ', 1)`,
    (e, d) => `lpad(${e.make('text', d)}, 5, '*')`,
    (e, d) => `strftime(${e.make('date', d)}, '%Y/%m')`,
    (e, d) => `dayname(${e.make('date', d)})`,
    (e, d) => `(${e.make(e.draw.of(['int', 'date', 'bool', 'time', 'ints']), d)})::VARCHAR`,
    (e, d) => `printf('%d|%s', ${e.make('int', d)}::BIGINT, ${e.make('text', d)})`,
    (e, d) => `array_to_string(${e.make('texts', d)}, '/')`,
    (e, d) => `${e.make('struct', d)}.b`,
    (e, d) => `${e.make('struct', d)}['b']`,
    (e, d) => `(${e.make('json', d)}->>'$.k[0]')`,
    (e, d) => `json_type(${e.make('json', d)})`,
    (e, d) => `CASE ${e.make('int', d)} WHEN 1 THEN 'one' WHEN ${e.make('int', d)} THEN ${e.make('text', d)} END`,
    (e, d) => `CASE WHEN ${e.make('bool', d)} THEN ${e.make('text', d)} ELSE ${e.make('text', d)} END`,
    (e, d) => `coalesce(${e.make('text', d)}, 'none')`,
    (e, d) => `typeof(${e.make(e.draw.of(kinds), d)})`,
  ],
  bool: [
    (e, d) => e.comparison(d),
    (e, d) => e.comparison(d),
    (e, d) => `(${e.make('bool', d)} ${e.draw.of(['AND', 'OR'])} ${e.make('bool', d)})`,
    (e, d) => `(NOT ${e.make('bool', d)})`,
    (e, d) => `(${e.make(e.draw.of(kinds), d)} IS ${e.draw.of(['', 'NOT '])}NULL)`,
    (e, d) => `(${e.make('int', d)} BETWEEN ${e.make('int', d)} AND ${e.make('int', d)})`,
    (e, d) =>
      `(${e.make('text', d)} ${e.draw.of(['LIKE', 'NOT LIKE', 'ILIKE', 'SIMILAR TO'])} ${e.draw.of([`'%o%'`, `'n_rth'`, `'a%'`, `'[a-z]*'`])})`,
    (e, d) => `(${e.make('int', d)} ${e.draw.of(['IN', 'NOT IN'])} (1, 2, ${e.make('int', d)}))`,
    (e, d) => `(${e.make('text', d)} IN ('north', 'a', ${e.make('text', d)}))`,
    (e, d) => `list_contains(${e.make('ints', d)}, ${e.make('int', d)})`,
    (e, d) => `starts_with(${e.make('text', d)}, 'n')`,
    (e, d) => `regexp_matches(${e.make('text', d)}, '^[a-m]')`,
    (e, d) => `(${e.make('date', d)} + INTERVAL 1 DAY > ${e.make('time', d)})`,
    (e) => e.subqueries?.bool() ?? 'true',
  ],
  date: [
    (e, d) => `(${e.make('date', d)} + (${e.make('int', d)} % 30)::INT)`,
    (e, d) => `date_trunc('month', ${e.make('date', d)})::DATE`,
    (e, d) => `(${e.make('time', d)})::DATE`,
    (e, d) => `last_day(${e.make('date', d)})`,
    (e, d) => `greatest(${e.make('date', d)}, ${e.make('date', d)})`,
  ],
  time: [
    (e, d) => `(${e.make('time', d)} + INTERVAL ${e.draw.of(['3 HOURS', `'2 days'`, '1 MONTH'])})`,
    (e, d) => `date_trunc('hour', ${e.make('time', d)})`,
    (e, d) => `time_bucket(INTERVAL 6 HOURS, ${e.make('time', d)})`,
    (e, d) => `(${e.make('date', d)} + to_minutes(${e.make('int', d)} % 500))`,
  ],
  ints: [
    (e, d) => `list_transform(${e.make('ints', d)}, lambda x: x % 50 + ${e.draw.of(['1', e.make('int', 0) + ' % 9'])})`,
    (e, d) => `list_filter(${e.make('ints', d)}, lambda x: x > ${e.draw.of(['0', '1', '2'])})`,
    (e, d) => `[v * 2 FOR v IN ${e.make('ints', d)} IF v < 1000]`,
    (e, d) => `list_${e.draw.of(['sort', 'reverse_sort', 'reverse'])}(${e.make('ints', d)})`,
    (e, d) => `list_sort(list_distinct(${e.make('ints', d)}))`,
    (e, d) => `(${e.make('ints', d)} || [${e.make('int', d)}])`,
    (e, d) => `${e.make('ints', d)}[1:2]`,
    (e, d) => `[${e.make('int', d)}, ${e.make('int', d)}]`,
    (e, d) => `list_transform(${e.make('texts', d)}, lambda t: length(t))`,
    (e, d) => `list_transform([1, 2], lambda i: list_count(list_filter(${e.make('ints', d)}, lambda j: j > i)))`,
  ],
  texts: [
    (e, d) => `string_split(${e.make('text', d)}, 'o')`,
    (e, d) => `list_transform(${e.make('texts', d)}, lambda t: ${e.draw.of(['upper(t)', `t || '!'`, 'reverse(t)'])})`,
    (e, d) => `[${e.make('text', d)}, ${e.make('text', d)}]`,
    (e, d) => `regexp_extract_all(${e.make('text', d)}, '[a-z]+')`,
    (e, d) => `list_sort(${e.make('texts', d)})`,
  ],
  struct: [
    (e, d) => `{'a': (${e.make('int', d)})::INT, 'b': ${e.make('text', d)}}`,
    (e, d) => `struct_pack(a := 3, b := ${e.make('text', d)})`,
    (e, d) => `struct_update(${e.make('struct', d)}, a := 4)`,
  ],
  json: [
    (e, d) => `json_object('k', ${e.make('ints', d)}, 'n', ${e.make('int', d)})`,
    (e, d) => `to_json(${e.make('struct', d)})`,
    (e, d) => `(${e.make('json', d)}->'$.k')`,
    (e, d) => `json_merge_patch(${e.make('json', d)}, '{"n": 5}')`,
  ],
}

/** Expressions over some columns. What a subquery gives comes from outside, where queries are made. */
export class Expressions {
  constructor(
    readonly draw: Draw,
    readonly columns: readonly Column[],
    readonly subqueries?: { scalar: (kind: Kind) => string; bool: () => string },
  ) {}

  make(kind: Kind, depth: number): string {
    const own = this.columns.filter((column) => column.kind === kind)
    const wanted = this.draw.below(10)
    if (own.length > 0 && (depth <= 0 ? wanted < 9 : wanted < 4)) return this.draw.of(own).name
    if (depth > 0 && this.subqueries && (kind === 'int' || kind === 'text') && this.draw.once(40)) return this.subqueries.scalar(kind)
    // Very few refer to what is not there, or make no sense: both sides have to refuse them.
    if (this.draw.once(1500)) return this.draw.of(['nothing_here', `(1 + 'x')`, `DATE 'x'`])
    return depth <= 0 || wanted === 9 ? this.draw.of(literals[kind]) : this.draw.of(rules[kind])(this, depth - 1)
  }

  comparison(depth: number): string {
    const kind = this.draw.of<Kind>(['int', 'int', 'num', 'text', 'text', 'date', 'time', 'ints'])
    const operator = this.draw.of(['=', '<>', '<', '<=', '>', '>=', '!=', 'IS DISTINCT FROM', 'IS NOT DISTINCT FROM'])
    return `(${this.make(kind, depth)} ${operator} ${this.make(kind, depth)})`
  }

  /** An aggregate that gives the same in whichever order its rows come. */
  aggregate(kind: Kind): string {
    const filter = this.draw.once(5) ? ` FILTER (WHERE ${this.make('bool', 1)})` : ''
    const distinct = this.draw.once(4) ? 'DISTINCT ' : ''
    const made: Partial<Record<Kind, readonly string[]>> = {
      int: [
        'count(*)',
        `count(${distinct}${this.make('text', 1)})`,
        `sum((${this.make('int', 1)}) % 1000)::BIGINT`,
        `max(${this.make('int', 1)})`,
        `bit_xor((${this.make('int', 1)})::BIGINT)`,
        `quantile_disc(${this.make('int', 1)}, 0.5)`,
      ],
      num: [`sum(${this.column('num')})`, `avg(${this.column('int')})`, `min(${this.make('num', 1)})`, `median(${this.column('num')})`],
      text: [`min(${this.make('text', 1)})`, `string_agg(${this.sorted('text')})`],
      bool: [`bool_or(${this.make('bool', 1)})`, `bool_and(${this.make('bool', 1)})`],
      date: [`max(${this.make('date', 1)})`],
      time: [`min(${this.make('time', 1)})`],
      ints: [`list(${this.sorted('int')})`],
      texts: [`array_agg(${distinct}${this.column('text')} ORDER BY 1 = 1)[1:0]`, `list_sort(list(${distinct}${this.column('text')}))`],
    }
    const forms = made[kind]
    if (!forms) return `max(${this.make(kind, 0)})`
    const form = this.draw.of(forms)
    // A FILTER belongs to the call itself.
    return form.startsWith('list_sort') || /[\]T]$/.test(form) ? form : form + filter
  }

  private sorted(kind: Kind): string {
    const value = this.make(kind, 0)
    return `${value} ORDER BY [${value}]${this.draw.once(2) ? ' DESC NULLS LAST' : ''}`
  }

  private column(kind: Kind): string {
    return this.make(kind, 0)
  }

  /** A window function; where its frame counts rows, their order is total. */
  window(kind: Kind): string {
    const all = this.columns.map(({ name }) => name).join(', ')
    const part = this.draw.once(2) ? `PARTITION BY ${this.make(this.draw.of(['text', 'bool', 'int']), 1)} ` : ''
    const total = `(${part}ORDER BY ${this.make('int', 1)}${this.draw.once(2) ? ' DESC' : ''}${all === '' ? '' : `, ${all}`}`
    const frame = this.draw.of([
      '',
      ' ROWS BETWEEN 2 PRECEDING AND CURRENT ROW',
      ' ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING EXCLUDE TIES',
    ])
    const value = this.make(kind, 0)
    if (kind === 'int')
      return this.draw.of([
        `row_number() OVER ${total})`,
        `rank() OVER (${part}ORDER BY ${this.make('date', 1)})`,
        `count(*) OVER ${total}${frame})`,
        `ntile(3) OVER ${total})`,
        `sum(${value} % 100) OVER ${total}${frame})::BIGINT`,
      ])
    return this.draw.of([
      `lag(${value}) OVER ${total})`,
      `lead(${value}, 2) OVER ${total})`,
      `first_value(${value}) OVER ${total}${frame})`,
      `max(${value}) OVER (${part.trim()})`,
    ])
  }
}
