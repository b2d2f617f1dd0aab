import { Expressions, kinds, type Column, type Draw, type Kind } from './expressions.js'

/** A table that queries read. */
export type Table = { name: string; columns: readonly Column[] }

type Source = { sql: string; columns: Column[] }
type QueryScope = { tables: readonly Table[]; outer: readonly Column[]; depth: number }

const qualified = (alias: string, columns: readonly Column[]): Column[] =>
  columns.map(({ name, kind }) => ({ name: `${alias}.${name}`, kind }))
const listKinds: readonly Kind[] = [
  'int',
  'int',
  'int',
  'text',
  'text',
  'text',
  'num',
  'bool',
  'date',
  'time',
  'ints',
  'texts',
  'struct',
  'json',
]

/** Random SELECTs whose answers do not depend on the plan: orders are total, sums exact, ties alike. */
export class Queries {
  constructor(
    private readonly draw: Draw,
    private readonly tables: readonly Table[],
  ) {}

  /** A statement, and whether its rows come in an order of their own. */
  statement(): { sql: string; ordered: boolean } {
    const { draw } = this
    const scope: QueryScope = { tables: this.tables, outer: [], depth: 2 }
    if (draw.once(12)) return this.pivoted(scope)
    const list = draw.times(1 + draw.below(4), () => draw.of(listKinds))
    const [withClause, inner] = draw.once(3) ? this.ctes(scope) : ['', scope]
    const query = this.query(list, inner)
    const end = draw.of([
      '',
      ' ORDER BY ALL',
      ' ORDER BY ALL',
      ` ORDER BY ALL DESC LIMIT ${draw.below(8)}`,
      ` ORDER BY ALL LIMIT 5 OFFSET ${draw.below(4)}`,
    ])
    return { sql: `${withClause}${end === '' ? query : `SELECT * FROM (${query}) AS q${end}`}`, ordered: end !== '' }
  }

  private kindsOf(count: number): Kind[] {
    return this.draw.times(count, () => this.draw.of(listKinds))
  }

  private ctes(scope: QueryScope): [string, QueryScope] {
    const { draw } = this
    let inner = scope
    const recursions = new Set<string>()
    const parts = draw.times(1 + draw.below(2), () => {
      // A CTE may have the name of a table, which it hides.
      const name = draw.once(4) ? draw.of(this.tables).name : draw.name('w')
      const list = this.kindsOf(1 + draw.below(3))
      const columns = list.map((kind, i) => ({ name: `c${i}`, kind }))
      if (draw.once(5)) {
        const other = draw.name('r')
        recursions.add(other)
        const from = this.query(['int', ...list], { ...scope, depth: 0 })
        inner = {
          ...inner,
          tables: [
            ...inner.tables.filter((table) => table.name !== other),
            { name: other, columns: [{ name: 'n', kind: 'int' }, ...columns.map((c, i) => ({ ...c, name: `d${i}` }))] },
          ],
        }
        return `${other}(n, ${list.map((_, i) => `d${i}`).join(', ')}) AS (SELECT 0 AS n, ${list.map((_, i) => `c${i + 1}`).join(', ')} FROM (${from}) AS q UNION ${draw.once(2) ? 'ALL ' : ''}SELECT n + 1, ${list.map((_, i) => `d${i}`).join(', ')} FROM ${other} WHERE n < 2)`
      }
      const how = draw.of(['', '', 'MATERIALIZED ', 'NOT MATERIALIZED '])
      const sql = `${name} AS ${how}(${this.query(list, { ...inner, depth: scope.depth - 1 })})`
      inner = { ...inner, tables: [...inner.tables.filter((table) => table.name !== name), { name, columns }] }
      return sql
    })
    // In WITH RECURSIVE a CTE sees itself, so that one with a table's name means itself by it.
    const names = new Set(this.tables.map(({ name }) => name))
    if (recursions.size > 0 && parts.some((part) => names.has(part.split(/[ (]/)[0] ?? ''))) return ['', scope]
    return [`WITH ${recursions.size > 0 ? 'RECURSIVE ' : ''}${parts.join(', ')} `, inner]
  }

  /** A query with columns c0, c1, … of some kinds. */
  query(list: readonly Kind[], scope: QueryScope): string {
    const { draw } = this
    if (scope.depth > 0 && draw.once(8)) {
      const deeper = { ...scope, depth: scope.depth - 1 }
      const operator = draw.of(['UNION', 'UNION ALL', 'INTERSECT', 'EXCEPT', 'UNION BY NAME', 'EXCEPT ALL', 'INTERSECT ALL'])
      return `(${this.query(list, deeper)}) ${operator} (${this.query(list, deeper)})`
    }
    if (draw.once(25)) return this.values(list)
    return draw.once(3) ? this.grouped(list, scope) : this.plain(list, scope)
  }

  private values(list: readonly Kind[]): string {
    const e = new Expressions(this.draw, [])
    const rows = this.draw.times(1 + this.draw.below(3), () => `(${list.map((kind) => e.make(kind, 1)).join(', ')})`)
    return `SELECT * FROM (VALUES ${rows.join(', ')}) AS v(${list.map((_, i) => `c${i}`).join(', ')})`
  }

  private expressions(columns: readonly Column[], scope: QueryScope): Expressions {
    const seen = [...columns, ...(this.draw.once(3) ? scope.outer : [])]
    if (scope.depth <= 0) return new Expressions(this.draw, seen)
    const inner: QueryScope = { ...scope, outer: columns, depth: 0 }
    return new Expressions(this.draw, seen, {
      scalar: (kind) => `(SELECT max(c0) FROM (${this.query([kind], inner)}) AS s)`,
      bool: () =>
        this.draw.of([
          () => `EXISTS (${this.query(['int'], inner)})`,
          () =>
            `(${this.draw.of(
              columns
                .filter(({ kind }) => kind === 'int')
                .map(({ name }) => name)
                .concat('1'),
            )} ${this.draw.of(['IN', 'NOT IN', '= ANY', '> ALL'])} (${this.query(['int'], inner)}))`,
          () => `(SELECT count(*) > 2 FROM (${this.query(['text'], inner)}) AS s)`,
        ])(),
    })
  }

  private plain(list: readonly Kind[], scope: QueryScope): string {
    const { draw } = this
    const source = this.from(scope)
    const e = this.expressions(source.columns, scope)
    const items = list.map(
      (kind, i) => `${draw.once(9) && kind !== 'struct' && kind !== 'json' ? e.window(kind) : e.make(kind, 2)} AS c${i}`,
    )
    const where = draw.once(2) ? ` WHERE ${e.make('bool', 2)}` : ''
    const qualify = draw.once(12)
      ? ` QUALIFY row_number() OVER (ORDER BY ${[...source.columns.map(({ name }) => name), '1 + 1'].join(', ')}) <= 7`
      : ''
    if (draw.once(10) && qualify === '')
      return `SELECT DISTINCT ON (c0) * FROM (SELECT ${items.join(', ')} FROM ${source.sql}${where}) AS d ORDER BY ALL`
    const form = draw.once(8)
      ? `FROM ${source.sql} SELECT ${items.join(', ')}`
      : `SELECT ${draw.once(6) ? 'DISTINCT ' : ''}${items.join(', ')} FROM ${source.sql}`
    return `${form}${where}${qualify}`
  }

  private grouped(list: readonly Kind[], scope: QueryScope): string {
    const { draw } = this
    const source = this.from(scope)
    const e = this.expressions(source.columns, scope)
    const keys = list.map((kind) =>
      draw.once(2) && kind !== 'json' ? `(${new Expressions(draw, source.columns).make(kind, 1)})` : undefined,
    )
    const items = list.map((kind, i) => `${keys[i] ?? e.aggregate(kind)} AS c${i}`)
    const places = keys.flatMap((key, i) => (key === undefined ? [] : [String(i + 1)]))
    const where = draw.once(3) ? ` WHERE ${e.make('bool', 1)}` : ''
    const having = draw.once(4) ? ` HAVING ${draw.of(['count(*) > 1', `${e.aggregate('int')} > 2`, e.aggregate('bool')])}` : ''
    const [first = '1', second] = places
    const sets =
      second === undefined
        ? [first]
        : [
            places.join(', '),
            'ALL',
            `GROUPING SETS ((${first}), (${second}), ())`,
            `ROLLUP (${places.join(', ')})`,
            `CUBE (${first}, ${second})`,
          ]
    const group = places.length === 0 ? '' : ` GROUP BY ${draw.of(sets)}`
    return `SELECT ${items.join(', ')} FROM ${source.sql}${where}${group}${having}`
  }

  private from(scope: QueryScope): Source {
    const left = this.item(scope)
    if (scope.depth < 0 || this.draw.below(10) < 5) return left
    return this.joined(left, this.item(scope), scope)
  }

  private item(scope: QueryScope): Source {
    const { draw } = this
    const alias = draw.name('t')
    const as = draw.of(['AS ', 'as ', ''])
    if (scope.depth > 0 && draw.once(4)) {
      const list = this.kindsOf(1 + draw.below(3))
      const sample = this.query(list, { ...scope, outer: [], depth: scope.depth - 1 })
      return {
        sql: `(${sample}) ${as}${alias}`,
        columns: qualified(
          alias,
          list.map((kind, i) => ({ name: `c${i}`, kind })),
        ),
      }
    }
    if (draw.once(12))
      return {
        sql: `${draw.of(['range(7)', 'generate_series(1, 9, 2)', 'unnest([3, 1, NULL])'])} ${as}${alias}(i)`,
        columns: [{ name: `${alias}.i`, kind: 'int' }],
      }
    const table = draw.of(scope.tables)
    const isFile = this.tables.includes(table)
    if (isFile && draw.once(15))
      return { sql: `files.${table.name}`, columns: qualified(draw.of([table.name, `files.${table.name}`]), table.columns) }
    if (draw.once(10)) {
      const renamed = table.columns.map(({ kind }, i) => ({ name: `n${i}`, kind }))
      return { sql: `${table.name} AS ${alias}(${renamed.map(({ name }) => name).join(', ')})`, columns: qualified(alias, renamed) }
    }
    return {
      sql: `${isFile && draw.once(4) ? 'files.' : ''}${draw.once(6) ? `"${table.name}"` : table.name} ${as}${alias}`,
      columns: qualified(alias, table.columns),
    }
  }

  private joined(left: Source, right: Source, scope: QueryScope): Source {
    const { draw } = this
    const both = [...left.columns, ...right.columns]
    const way = draw.below(12)
    if (way === 0) return { sql: `${left.sql}, ${right.sql}`, columns: both }
    if (way === 1) return { sql: `${left.sql} CROSS JOIN ${right.sql}`, columns: both }
    if (way === 2) return this.lateral(left, scope)
    if (way === 3) return this.asOf(left)
    const type = draw.of(['JOIN', 'INNER JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN', 'LEFT OUTER JOIN', 'SEMI JOIN', 'ANTI JOIN'])
    const kind = draw.of<Kind>(['int', 'text'])
    const [a, b] = [new Expressions(draw, left.columns).make(kind, 0), new Expressions(draw, right.columns).make(kind, 0)]
    const more = draw.once(3) ? ` AND ${new Expressions(draw, both).comparison(0)}` : ''
    return { sql: `${left.sql} ${type} ${right.sql} ON ${a} = ${b}${more}`, columns: /SEMI|ANTI/.test(type) ? left.columns : both }
  }

  private lateral(left: Source, scope: QueryScope): Source {
    const { draw } = this
    const alias = draw.name('l')
    const lists = left.columns.filter(({ kind }) => kind === 'ints')
    if (lists.length > 0 && draw.once(2))
      return {
        sql: `${left.sql}, unnest(${draw.of(lists).name}) AS ${alias}(u)`,
        columns: [...left.columns, { name: `${alias}.u`, kind: 'int' }],
      }
    const kind = draw.of<Kind>(['int', 'text'])
    const inner = this.query([kind], { ...scope, outer: left.columns, depth: 0 })
    return { sql: `${left.sql}, LATERAL (${inner}) AS ${alias}`, columns: [...left.columns, { name: `${alias}.c0`, kind }] }
  }

  /** The right side has each time once, so that no two rows are equally near. */
  private asOf(left: Source): Source {
    const { draw } = this
    const alias = draw.name('z')
    const times = left.columns.filter((column) => column.kind === 'time' || column.kind === 'date')
    if (times.length === 0) return left
    const right = `(SELECT moment, max(value) AS value, count(*) AS n FROM files.events GROUP BY moment) AS ${alias}`
    return {
      sql: `${left.sql} ASOF ${draw.of(['', 'LEFT '])}JOIN ${right} ON ${draw.of(times).name} >= ${alias}.moment`,
      columns: [
        ...left.columns,
        ...qualified(alias, [
          { name: 'moment', kind: 'time' },
          { name: 'value', kind: 'int' },
          { name: 'n', kind: 'int' },
        ]),
      ],
    }
  }

  private pivoted(scope: QueryScope): { sql: string; ordered: boolean } {
    const { draw } = this
    const source = `(${this.query([draw.of<Kind>(['text', 'int', 'bool']), 'int', draw.of(kinds)], { ...scope, depth: 1 })})`
    const use = draw.of(['sum(c1 % 100)', 'count(*)', 'max(c1) AS m, min(c1)', 'count(c2)'])
    const group = draw.of(['', ' GROUP BY c2', ' GROUP BY c1'])
    const values = draw.of(['', '', ` IN ('north', 'a', '1')`])
    if (draw.once(4))
      return {
        sql: `SELECT * FROM (UNPIVOT (SELECT (c1)::BIGINT AS a, c1 % 5 AS b, c2 FROM ${source} AS s) ON a::BIGINT AS x, b::BIGINT AS y INTO NAME k VALUE v)`,
        ordered: false,
      }
    return { sql: `PIVOT ${source} ON c0${values} USING ${use}${group}`, ordered: false }
  }
}
