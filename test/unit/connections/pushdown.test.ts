import { expect, test } from '@jest/globals'
import type { Constant, Filter, TableColumn } from '../../../src/connections/contract/requests.js'
import type { ColumnType } from '../../../src/connections/contract/types.js'
import { dialectOf } from '../../../src/connections/pushdown/dialects.js'
import { canAggregate, canOrder, canPush } from '../../../src/connections/pushdown/can-push.js'
import { printScan } from '../../../src/connections/pushdown/print-scan.js'

const column = (type: ColumnType['type'], remote: string): TableColumn =>
  ({ name: 'c', type: { type }, remote, nullable: true, exactText: true }) as TableColumn

const above = (constant: Constant): Filter => ({ compare: '>', column: 'c', with: constant })

test.each<[engine: string, column: TableColumn, constant: Constant, isSent: boolean]>([
  // A number of two digits is a year of its own beside a YEAR.
  ['mysql', column('SMALLINT', 'year(4)'), { type: 'INTEGER', value: '50' }, false],
  ['mysql', column('SMALLINT', 'year'), { type: 'INTEGER', value: '50' }, false],
  ['mysql', column('SMALLINT', 'smallint(6)'), { type: 'INTEGER', value: '50' }, true],
  ['mysql', column('TIMESTAMP', 'datetime(6)'), { type: 'TIMESTAMP', value: '2026-01-01 08:00:00' }, true],
  // The server has another zone, in which an hour may come twice.
  ['singlestore', column('TIMESTAMP', 'timestamp(6)'), { type: 'TIMESTAMP', value: '2026-01-01 08:00:00' }, false],
  // NaN is the least number there, and the greatest one here.
  ['cockroachdb', column('DOUBLE', 'double precision'), { type: 'DOUBLE', value: '3' }, false],
  ['cockroachdb', column('BIGINT', 'bigint'), { type: 'INTEGER', value: '3' }, true],
  ['postgres', column('DOUBLE', 'double precision'), { type: 'DOUBLE', value: '3' }, true],
])('%s is asked to compare %j with %j: %s', (engine, compared, constant, isSent) => {
  expect(canPush(above(constant), [compared], dialectOf(engine))).toBe(isSent)
})

const kinds: readonly (readonly [type: 'DATE' | 'TIMESTAMP' | 'TIMESTAMP WITH TIME ZONE', behind: string])[] = [
  ['DATE', ''],
  ['TIMESTAMP', ' 23:59:59.5'],
  ['TIMESTAMP WITH TIME ZONE', ' 00:00:00+00'],
]

test.each<[day: string, isSent: boolean]>([
  ['0001-01-01', true],
  ['2024-02-29', true],
  ['2000-02-29', true],
  ['9999-12-31', true],
  // A year 0 is known here, and nowhere else.
  ['0000-01-01', false],
  ['2023-02-29', false],
  ['1900-02-29', false],
  ['2024-13-01', false],
  ['2024-04-31', false],
])('a time is sent only if every database has its day: %s', (day, isSent) => {
  for (const [type, behind] of kinds)
    for (const engine of ['postgres', 'mysql', 'duckdb'])
      expect([engine, type, canPush(above({ type, value: `${day}${behind}` }), [column(type, 'datetime')], dialectOf(engine))]).toEqual([
        engine,
        type,
        isSent,
      ])
})

test.each([' 24:00:00', ' 10:60:00', ' 10:00:60', ' 10:00'])('a time that databases read in other ways is not sent: %s', (clock) => {
  const filter = above({ type: 'TIMESTAMP', value: `2024-01-01${clock}` })
  expect(canPush(filter, [column('TIMESTAMP', 'datetime')], dialectOf('postgres'))).toBe(false)
})

test.each([
  ['utf8mb4_unicode_ci', 'c', ' COLLATE utf8mb4_unicode_ci AND '],
  ['utf8mb4_bin', 'c', ' COLLATE utf8mb4_bin AND '],
  ['utf8mb4_unicode_ci', '', ' AND '],
  ['latin1_swedish_ci', 'c', ' AND '],
  ['utf16_general_ci', 'c', undefined],
  ['ucs2_general_ci', 'c', undefined],
])('a text beside a column of MySQL in %s does not have another collation: "%s"', (collation, value, behind) => {
  const text = value === '' ? "''" : 'CONVERT(0x63 USING utf8mb4)'
  const filters: Filter[] = [{ compare: '=', column: 'c', with: { type: 'VARCHAR', value } }]
  const columns = [{ ...column('VARCHAR', 'varchar(20)'), collation }]
  const first = behind === undefined ? '' : `\`c\` = ${text}${behind}`
  expect(printScan({ table: 't', columns: ['c'], filters }, columns, dialectOf('mysql')).sql).toBe(
    `SELECT \`c\` FROM \`t\` WHERE (${first}CAST(CONVERT(\`c\` USING utf8mb4) AS BINARY) = CAST(${text} AS BINARY))`,
  )
})

const texts = (name: string, engine: string): TableColumn => ({ ...column('VARCHAR', engine === 'mysql' ? 'varchar(20)' : 'text'), name })

/** A statement with the texts that stand in hexadecimal. */
const readable = (sql: string): string => sql.replaceAll(/0x([0-9a-f]+)/g, (_, hex: string) => Buffer.from(hex, 'hex').toString())

test.each(['postgres', 'redshift', 'mysql', 'duckdb'])('a secret is masked for the record, and sent to %s', (engine) => {
  const url = 'postgres://reader:hunter2@db/shop'
  for (const [name, value] of [
    ['password', 'hunter2'],
    ['note', url],
  ] as const) {
    const constant: Constant = { type: 'VARCHAR', value }
    const equal: Filter = { compare: '=', column: name, with: constant }
    const filters: Filter[] = [
      equal,
      { compare: '<>', column: name, with: constant },
      { in: [{ type: 'VARCHAR', value: 'plain' }, constant], column: name },
      { like: value, column: name },
      { not: { or: [equal, { and: [equal, { isNull: name }] }] } },
    ]
    for (const filter of filters) {
      const { sql, recorded, values } = printScan(
        { table: 't', columns: [name], filters: [filter] },
        [texts(name, engine)],
        dialectOf(engine),
      )
      expect([filter, readable([sql, ...values].join(' '))]).toEqual([filter, expect.stringContaining(value)])
      expect([filter, readable(recorded)]).toEqual([filter, expect.not.stringContaining('hunter2')])
    }
  }
})

test('a secret of a joined table is masked by the name that its column has there', () => {
  const [own, other] = [
    { ...column('BIGINT', 'bigint'), name: 'c1' },
    { ...column('BIGINT', 'bigint'), name: 'c2' },
  ]
  const filters: Filter[] = [{ compare: '<>', column: 'c3', with: { type: 'VARCHAR', value: 'hunter2' } }]
  const join = {
    tables: [{ table: 'u', isLeft: false, on: [['c1', 'c2']] as const }],
    columns: [
      { of: 0, column: 'id', as: 'c1' },
      { of: 1, column: 'id', as: 'c2' },
      { of: 1, column: 'password', as: 'c3' },
    ],
  }
  const scan = { table: 't', columns: [], join, aggregates: [{ function: 'count', as: 'n' }] as const, filters }
  const { sql, recorded } = printScan(scan, [own, other, texts('c3', 'mysql')], dialectOf('mysql'))
  expect(readable(sql)).toContain('hunter2')
  expect(recorded).toContain("CAST(CONVERT(t2.`password` USING utf8mb4) AS BINARY) <> CAST('******' AS BINARY)")
})

test('a text without a secret is recorded as it is sent', () => {
  const filters: Filter[] = [{ compare: '=', column: 'place', with: { type: 'VARCHAR', value: 'gut' } }]
  const { sql, recorded } = printScan({ table: 't', columns: ['place'], filters }, [texts('place', 'mysql')], dialectOf('mysql'))
  expect(recorded).toBe(sql)
})

test.each([
  ['text', true],
  ['character varying(20)', true],
  ['bit varying(3)', true],
  ['numeric(39,1)', true],
  ['money', true],
  // The name of a row of fields may begin like a type without fields.
  ['money_amount', false],
  ['text_pair', false],
  ['public.place', false],
])('PostgreSQL is asked whether a %s is NULL: %s', (remote, isAsked) => {
  expect(canPush({ isNotNull: 'c' }, [column('VARCHAR', remote)], dialectOf('postgres'))).toBe(isAsked)
})

test.each([
  ['decimal(38,10)', true],
  ['decimal(65,30)', false],
  ['decimal(41,0) unsigned', false],
])('MySQL is asked for the sum and the groups of a %s: %s', (remote, isAsked) => {
  const amount = { ...column('DECIMAL', remote), type: { type: 'DECIMAL', width: 38, scale: 10 } } as const
  const sum = { table: 't', columns: [], aggregates: [{ function: 'sum', column: 'c', as: 's' }] } as const
  expect(canAggregate(sum, [amount], dialectOf('mysql'))).toBe(isAsked)
  const count = { table: 't', columns: ['c'], aggregates: [{ function: 'count', as: 'n' }] } as const
  expect(canAggregate(count, [amount], dialectOf('mysql'))).toBe(isAsked)
  expect(canPush(above({ type: 'INTEGER', value: '0' }), [amount], dialectOf('mysql'))).toBe(true)
})

test.each<[remote: string, isAsked: boolean]>([
  ['bit(9)', false],
  ['bigint(20) unsigned', true],
])('MySQL is asked for the least and the greatest %s: %s', (remote, isAsked) => {
  const asked = (name: 'min' | 'max' | 'sum' | 'count') => {
    const scan = { table: 't', columns: [], aggregates: [{ function: name, column: 'c', as: 'n' }] } as const
    return canAggregate(scan, [column('UBIGINT', remote)], dialectOf('mysql'))
  }
  expect([asked('min'), asked('max'), asked('sum'), asked('count')]).toEqual([isAsked, isAsked, true, true])
})

test.each<[Constant, string]>([
  [{ type: 'DECIMAL', value: '0.1250' }, 'numeric(38,4)'],
  [{ type: 'DECIMAL', value: '7' }, 'numeric(38,0)'],
  [{ type: 'BIGINT', value: '-9223372036854775808' }, 'int8'],
  [{ type: 'HUGEINT', value: '9223372036854775808' }, 'numeric(38,0)'],
])('a number keeps its digits in Redshift: %j', (constant, type) => {
  const price = { ...column('DECIMAL', 'numeric(9,4)'), type: { type: 'DECIMAL', width: 9, scale: 4 } } as const
  const { sql } = printScan({ table: 't', columns: ['c'], filters: [above(constant)] }, [price], dialectOf('redshift'))
  expect(sql).toBe(`SELECT "c" FROM "t" WHERE "c" > $1::${type}`)
})

test.each<[engine: string, left: TableColumn, right: TableColumn, isSent: boolean]>([
  ['mysql', column('BIGINT', 'bigint(20)'), column('INTEGER', 'int(11)'), true],
  ['mysql', column('SMALLINT', 'year(4)'), column('INTEGER', 'int(11)'), false],
  // Days that do not exist are equal there, and NULL here.
  ['mysql', column('DATE', 'date'), column('DATE', 'date'), false],
  // A collation decides there whether texts are equal.
  ['mysql', column('VARCHAR', 'varchar(20)'), column('VARCHAR', 'varchar(20)'), false],
  // Its tables may lie on several servers.
  ['PlanetScale', column('BIGINT', 'bigint(20)'), column('INTEGER', 'int(11)'), false],
  ['postgres', column('BIGINT', 'bigint'), column('BIGINT', 'oid'), false],
  ['postgres', column('DATE', 'date'), column('TIMESTAMP', 'timestamp without time zone'), false],
  ['postgres', column('UUID', 'uuid'), column('UUID', 'uuid'), true],
  ['cockroachdb', column('DOUBLE', 'double precision'), column('DOUBLE', 'double precision'), false],
  ['sqlite', column('BIGINT', 'integer'), column('BIGINT', 'integer'), false],
  ['duckdb', column('VARCHAR', 'VARCHAR'), column('VARCHAR', 'VARCHAR'), true],
])('%s joins %j and %j by their values: %s', (engine, left, right, isSent) => {
  expect(dialectOf(engine).canJoin(left, right)).toBe(isSent)
})

test('a join is printed with aggregates alone', () => {
  const join = { tables: [{ table: 'u', isLeft: false, on: [['a', 'b']] as const }], columns: [{ of: 1, column: 'id', as: 'b' }] }
  expect(() => printScan({ table: 't', columns: ['b'], join }, undefined, dialectOf('postgres'))).toThrow('with aggregates alone')
})

test.each<[engine: string, isDescending: boolean, nullsFirst: boolean, order: string]>([
  ['postgres', false, false, '"c" NULLS LAST'],
  ['postgres', true, false, '"c" DESC NULLS LAST'],
  ['postgres', true, true, '"c" DESC NULLS FIRST'],
  ['duckdb', false, true, '"c" NULLS FIRST'],
  // There NULL is less than every value.
  ['mysql', false, true, '`c`'],
  ['mysql', false, false, '`c` IS NULL, `c`'],
  ['mysql', true, false, '`c` DESC'],
  ['mysql', true, true, '`c` IS NOT NULL, `c` DESC'],
])('%s gets the first rows of an order: descending %s, NULL first %s', (engine, isDescending, nullsFirst, order) => {
  const scan = { table: 't', columns: ['c'], limit: 3, order: [{ column: 'c', isDescending, nullsFirst }] }
  const number = column('INTEGER', 'int')
  const name = order.startsWith('`') ? '`c`' : '"c"'
  const from = engine === 'mysql' ? '`t`' : '"t"'
  const sql = (own: TableColumn) => printScan(scan, [own], dialectOf(engine)).sql
  expect(sql(number)).toBe(`SELECT ${name} FROM ${from} ORDER BY ${order} LIMIT 3`)
  expect(sql({ ...number, nullable: false })).toBe(`SELECT ${name} FROM ${from} ORDER BY ${name}${isDescending ? ' DESC' : ''} LIMIT 3`)
  // What is only declared is no proof.
  if (engine !== 'mysql') expect(sql({ ...number, nullable: false, nullUnchecked: true })).toBe(sql(number))
})

test.each<[engine: string, ordered: TableColumn, isSent: boolean]>([
  ['postgres', column('BIGINT', 'bigint'), true],
  ['postgres', column('BIGINT', 'oid'), false],
  ['postgres', column('TIMESTAMP WITH TIME ZONE', 'timestamp with time zone'), true],
  // A collation decides the order of texts, a list the order of an enum, and NaN the order of doubles.
  ['postgres', column('VARCHAR', 'text'), false],
  ['postgres', { ...column('VARCHAR', 'feeling'), isEnum: true }, false],
  ['postgres', column('DOUBLE', 'double precision'), false],
  ['mysql', column('BIGINT', 'bigint(20)'), true],
  ['mysql', column('SMALLINT', 'year(4)'), true],
  // A day that does not exist has a place there, and is NULL here.
  ['mysql', column('DATE', 'date'), false],
  ['mysql', column('VARCHAR', 'varchar(20)'), false],
  ['mysql', column('DECIMAL', 'decimal(65,30)'), false],
  ['planetscale', column('BIGINT', 'bigint(20)'), false],
  ['sqlite', column('BIGINT', 'INTEGER'), false],
  ['duckdb', column('DATE', 'DATE'), true],
])('a limit is sent with an order only if it is the order here, of %s by %j: %s', (engine, ordered, isSent) => {
  const order = [{ column: 'c', isDescending: true, nullsFirst: false }]
  const { sql } = printScan({ table: 't', columns: ['c'], limit: 3, order }, [ordered], dialectOf(engine))
  expect([canOrder(order, [ordered], dialectOf(engine)), /ORDER BY/.test(sql), /LIMIT/.test(sql)]).toEqual([isSent, isSent, isSent])
})
