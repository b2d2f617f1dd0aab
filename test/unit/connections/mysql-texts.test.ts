import { describe, expect, test } from '@jest/globals'
import type { Aggregate, ComparisonOperator, Constant, Filter, Scan, TableColumn } from '../../../src/connections/contract/requests.js'
import { plain } from '../../../src/connections/contract/types.js'
import { canAggregate, canOrder, canPush, keepsSame } from '../../../src/connections/pushdown/can-push.js'
import { dialectOf } from '../../../src/connections/pushdown/dialects.js'
import { printScan } from '../../../src/connections/pushdown/print-scan.js'

const engines = ['mysql', 'mariadb', 'aurora_mysql', 'planetscale', 'singlestore'] as const

/** A column of texts. Its collation may call texts equal that differ in case, in accents, or in blanks at their end. */
const text = (remote = 'varchar(20)', collation = 'utf8mb4_general_ci'): TableColumn => ({
  ...{ name: 'c', type: plain('VARCHAR'), remote, nullable: true, exactText: true, collation },
})

const texts = [
  ...[text(), text('char(4)'), text('tinytext'), text('text'), text('mediumtext'), text('longtext'), text("enum('a','b')")],
  ...[text('varchar(20)', 'utf8mb4_0900_ai_ci'), text('varchar(20)', 'latin1_swedish_ci'), text('text', 'utf8mb4_uca1400_ai_ci')],
]

const id: TableColumn = { name: 'id', type: plain('INTEGER'), remote: 'int', nullable: false, exactText: false }

const of = (value: string): Constant => ({ type: 'VARCHAR', value })
const compare = (operator: ComparisonOperator, value = 'ab'): Filter => ({ compare: operator, column: 'c', with: of(value) })

const whereOf = (filter: Filter, column: TableColumn, engine = 'mysql'): string | undefined => {
  const { sql } = printScan({ table: 't', columns: ['id'], filters: [filter] }, [id, column], dialectOf(engine))
  return sql.split(' WHERE ')[1]
}

const bytes = 'CAST(CONVERT(`c` USING utf8mb4) AS BINARY)'
const bytesOf = (hex: string) => `CAST(CONVERT(0x${hex} USING utf8mb4) AS BINARY)`
const equal = (hex: string) => `(\`c\` = CONVERT(0x${hex} USING utf8mb4) COLLATE utf8mb4_general_ci AND ${bytes} = ${bytesOf(hex)})`

test.each<[filter: Filter, where: string | undefined]>([
  [compare('='), equal('6162')],
  [compare('=', ''), `(\`c\` = '' AND ${bytes} = CAST('' AS BINARY))`],
  [compare('=', 'ab '), equal('616220')],
  [compare('<>'), `${bytes} <> ${bytesOf('6162')}`],
  [compare('<'), undefined],
  [compare('<='), undefined],
  [compare('>'), undefined],
  [compare('>='), undefined],
  [{ and: [compare('>='), compare('<=')] }, undefined],
  [{ not: compare('=') }, `NOT (${equal('6162')})`],
  [{ in: [of('a'), of('B')], column: 'c' }, `(${equal('61')} OR ${equal('42')})`],
  [{ not: { in: [of('a')], column: 'c' } }, `NOT ((${equal('61')}))`],
  [{ in: [of('a'), { type: 'INTEGER', value: '1' }], column: 'c' }, undefined],
  [{ like: 'a%', column: 'c' }, `${bytes} LIKE ${bytesOf('6125')} ESCAPE '|'`],
  [{ like: '%\\', column: 'c' }, `${bytes} LIKE ${bytesOf('255c')} ESCAPE '|'`],
  [{ not: { like: 'a%', column: 'c' } }, `NOT (${bytes} LIKE ${bytesOf('6125')} ESCAPE '|')`],
  // One byte there, and one character here.
  [{ like: 'a_', column: 'c' }, undefined],
  [{ like: 'a|%', column: 'c' }, undefined],
  [{ or: [compare('='), { like: 'a_', column: 'c' }] }, undefined],
  [{ isNull: 'c' }, '`c` IS NULL'],
  [{ isNotNull: 'c' }, '`c` IS NOT NULL'],
  // The database would read a text as a number.
  [{ compare: '=', column: 'c', with: { type: 'INTEGER', value: '1' } }, undefined],
  [{ compare: '=', column: 'c', with: { type: 'DATE', value: '2026-01-01' } }, undefined],
])('%j is sent by bytes, or not at all', (filter, where) => {
  expect(whereOf(filter, text())).toBe(where)
})

describe.each(engines)('%s', (engine) => {
  const dialect = dialectOf(engine)

  test('compares no text by its collation alone', () => {
    const operators: readonly ComparisonOperator[] = ['=', '<>', '<', '<=', '>', '>=']
    const filters: readonly Filter[] = [
      ...operators.map((operator) => compare(operator)),
      { in: [of('a'), of('b')], column: 'c' },
      { like: 'a%', column: 'c' },
    ]
    for (const column of texts)
      for (const filter of filters) {
        const where = whereOf(filter, column, engine)
        // A comparison of the column itself stands only before one of its bytes.
        const parts = where
          ?.split(' OR ')
          .filter((part) => !/CAST\(CONVERT\(`c` USING utf8mb4\) AS BINARY\) (?:=|<>|LIKE) CAST\(/.test(part))
        expect([column.remote, filter, parts ?? []]).toEqual([column.remote, filter, []])
        expect([column.remote, filter, where !== undefined]).toEqual([
          column.remote,
          filter,
          !('compare' in filter) || ['=', '<>'].includes(filter.compare),
        ])
        if (where !== undefined) expect(keepsSame(filter, [column], dialect)).toBe(true)
      }
  })

  test.each(["set('a','b')", 'varbinary(20)', 'json', 'uuid', 'inet6'])('compares no %s', (remote) => {
    for (const operator of ['=', '<>'] as const) expect(canPush(compare(operator), [text(remote)], dialect)).toBe(false)
    expect(canPush({ like: 'a%', column: 'c' }, [text(remote)], dialect)).toBe(false)
  })

  test('groups, orders and counts no different texts, and looks for no least and greatest ones', () => {
    const count: Aggregate = { function: 'count', as: 'n' }
    const asked: readonly Partial<Scan>[] = [
      // GROUP BY c, and SELECT DISTINCT c.
      { columns: ['c'], aggregates: [count] },
      { columns: ['id', 'c'], aggregates: [count] },
      { aggregates: [{ function: 'count', column: 'c', isDistinct: true, as: 'n' }] },
      { aggregates: [{ function: 'min', column: 'c', as: 'n' }] },
      { aggregates: [{ function: 'max', column: 'c', as: 'n' }] },
    ]
    for (const column of texts) {
      for (const part of asked) {
        const scan: Scan = { table: 't', columns: [], ...part }
        expect([column.remote, part, canAggregate(scan, [id, column], dialect)]).toEqual([column.remote, part, false])
        expect(() => printScan(scan, [id, column], dialect)).toThrow('do not mean the same')
      }
      for (const isDescending of [false, true]) {
        const order = [{ column: 'c', isDescending, nullsFirst: false }]
        expect(canOrder(order, [column], dialect)).toBe(false)
        expect(printScan({ table: 't', columns: ['id'], limit: 3, order }, [id, column], dialect).sql).toBe('SELECT `id` FROM `t`')
      }
      expect(dialect.canJoin(column, column)).toBe(false)
    }
  })

  test('takes the first rows, or counts them, only if it compares by bytes', () => {
    const scan = (filter: Filter): Scan => ({ table: 't', columns: ['id'], filters: [filter], limit: 3 })
    const counted = (filter: Filter): Scan => ({ table: 't', columns: [], filters: [filter], aggregates: [{ function: 'count', as: 'n' }] })
    for (const [filter, isSent] of [
      [compare('='), true],
      [{ like: 'a%', column: 'c' }, true],
      [compare('<'), false],
      [{ like: 'a_', column: 'c' }, false],
    ] as const) {
      expect([filter, printScan(scan(filter), [id, text()], dialect).sql.endsWith(' LIMIT 3')]).toEqual([filter, isSent])
      expect([filter, canAggregate(counted(filter), [id, text()], dialect)]).toEqual([filter, isSent])
    }
  })
})
