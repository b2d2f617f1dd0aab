import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import mysql from 'mysql2'
import { packet } from './mysql-server.js'
import { openMysqlTables, type MysqlTables } from './mysql-tables.js'
import { password } from './postgres.js'

/** The half of the driver that speaks as a server; its types leave out what is used here. */
type ServerSide = {
  serverHandshake: (options: object) => void
  writeTextResult: (rows: readonly Record<string, string | null>[], columns: readonly object[]) => void
  writeOk: (values?: object) => void
  writeError: (values: { code: number; message: string }) => void
  writeEof: (warnings?: number, status?: number) => void
  writeColumns: (columns: readonly object[]) => void
  writeTextRow: (row: readonly (string | null)[]) => void
  stream: { destroy: () => void; write: (bytes: Buffer) => void; once: (event: string, hear: (bytes: Buffer) => void) => void }
  sequenceId: number
  on: (event: string, hear: (sql: string) => void) => void
  close: () => void
}

/** A server with MySQL's protocol, and what a test changes or sees of it. */
export type MysqlServer = {
  port: number
  /** What it was asked, in order. */
  asked: string[]
  /** How many statements it was told to end. */
  killed: number
  /** What came when it asked for a file. */
  received: Uint8Array
  /** Whether its sessions obey the zone that is set. */
  isUtc: boolean
  tables: MysqlTables
  stop: () => void
}

const column = (name: string, columnType: number, more: object = {}) => ({
  ...{ catalog: 'def', schema: 'shop', table: 't', orgTable: 't', name, orgName: name, characterSet: 45, columnLength: 255, columnType },
  ...{ flags: 0, decimals: 0, ...more },
})

/** Numbers as a DECIMAL(65,30) sends them, by the tables that have them. */
const amounts: Readonly<Record<string, readonly string[]>> = {
  amounts: ['123456789.500000000000000000000000000000', '0.300000000000000000000000000000'],
  wide: Array.from({ length: 3_000 }, () => '12345678901234567890.123456789012345678900000000000'),
}

/** Answers the statements of a scan of a table of amounts. */
const answerAmounts = (side: ServerSide, sql: string, table: string): void => {
  if (sql.includes('information_schema.columns')) {
    const names = ['name', 'remote', 'nullable', 'charset', 'collation']
    const row = { name: 'amount', remote: 'decimal(65,30)', nullable: 'YES', charset: '', collation: null }
    side.writeTextResult(
      [row],
      names.map((name) => column(name, 253)),
    )
    return
  }
  const rows = sql.endsWith('LIMIT 0') ? [] : (amounts[table] ?? [])
  side.writeTextResult(
    rows.map((amount) => ({ amount })),
    [column('amount', 246, { characterSet: 63, columnLength: 67, decimals: 30 })],
  )
}

/** Answers statements over the table `granted`, of whose columns the user may read `id` alone. */
const answerGranted = (side: ServerSide, sql: string): void => {
  if (sql.includes('information_schema.columns')) {
    const row = { name: 'id', ...(!sql.includes('privileges') && { remote: 'bigint', nullable: 'NO', charset: '', collation: null }) }
    side.writeTextResult(
      [row],
      Object.keys(row).map((name) => column(name, 253)),
    )
  } else if (sql.includes('*'))
    side.writeError({ code: 1143, message: "SELECT command denied to user 'me'@'localhost' for column 'rent' in table 'granted'" })
  else side.writeTextResult(sql.endsWith('LIMIT 0') ? [] : [{ id: '7' }], [column('id', 8)])
}

const binary = { characterSet: 63 }
const numeric = { ...binary, columnLength: 20 }
const unsigned = { ...numeric, flags: 32 }
const decimal = (digits: number, decimals: number) => ({ ...binary, columnLength: digits + 2, decimals })

/** A type as MySQL describes it, a value as it sends it (one character for each byte), our type, and how DuckDB writes the value. */
type TypedValue = readonly [name: string, code: number, more: object, sent: string | null, ours: string, text: string | null]

/** The answer to `SELECT typed`. */
export const typedValues: readonly TypedValue[] = [
  ['tinyint', 1, numeric, '-128', 'TINYINT', '-128'],
  ['tinyint unsigned', 1, unsigned, '255', 'UTINYINT', '255'],
  ['smallint', 2, numeric, '-32768', 'SMALLINT', '-32768'],
  ['smallint unsigned', 2, unsigned, '65535', 'USMALLINT', '65535'],
  ['mediumint', 9, numeric, '-8388608', 'INTEGER', '-8388608'],
  ['mediumint unsigned', 9, unsigned, '16777215', 'UINTEGER', '16777215'],
  ['int', 3, numeric, '-2147483648', 'INTEGER', '-2147483648'],
  ['int unsigned', 3, unsigned, '4294967295', 'UINTEGER', '4294967295'],
  ['bigint', 8, numeric, '-9223372036854775808', 'BIGINT', '-9223372036854775808'],
  ['bigint unsigned', 8, unsigned, '18446744073709551615', 'UBIGINT', '18446744073709551615'],
  ['bit(9)', 16, unsigned, '\x01\x01', 'UBIGINT', '257'],
  ['decimal(10,2)', 246, decimal(10, 2), '-0.05', 'DECIMAL(10,2)', '-0.05'],
  ['decimal(38,10)', 246, decimal(38, 10), '1234567890123456789012.0123456789', 'DECIMAL(38,10)', '1234567890123456789012.0123456789'],
  ['decimal(65,30)', 246, decimal(65, 30), `12345.5${'0'.repeat(29)}`, 'DECIMAL(38,16)', '12345.5000000000000000'],
  ['float', 4, numeric, '1.5', 'FLOAT', '1.5'],
  ['double', 5, numeric, '0.30000000000000004', 'DOUBLE', '0.30000000000000004'],
  ['year', 13, unsigned, '2024', 'SMALLINT', '2024'],
  ['date', 10, binary, '2024-02-29', 'DATE', '2024-02-29'],
  ['date that is zero', 10, binary, '0000-00-00', 'DATE', null],
  ['date without a month', 10, binary, '2024-00-10', 'DATE', null],
  ['date of no calendar', 10, binary, '2024-02-31', 'DATE', null],
  ['datetime(6)', 12, binary, '9999-12-31 23:59:59.999999', 'TIMESTAMP', '9999-12-31 23:59:59.999999'],
  ['datetime that is zero', 12, binary, '0000-00-00 00:00:00', 'TIMESTAMP', null],
  ['timestamp', 7, binary, '2024-05-17 01:02:03', 'TIMESTAMP WITH TIME ZONE', '2024-05-17 01:02:03+00'],
  ['time(3)', 11, binary, '-838:59:58.999', 'INTERVAL', '-838:59:58.999'],
  ['char(5)', 254, {}, 'ab', 'VARCHAR', 'ab'],
  ['varchar(100)', 253, {}, '\xc3\xbc \xe2\x82\xac, more than twelve bytes', 'VARCHAR', 'ü €, more than twelve bytes'],
  ['varchar(100) that is not UTF-8', 253, {}, 'a\xffb', 'VARCHAR', 'a�b'],
  ['longtext', 252, {}, '', 'VARCHAR', ''],
  ['varbinary(20)', 253, binary, '\x00\xff', 'BLOB', '\\x00\\xFF'],
  ['blob', 252, binary, 'A', 'BLOB', 'A'],
  ["enum('a','b')", 254, { flags: 256 }, 'b', 'VARCHAR', 'b'],
  ["set('a','b')", 254, { flags: 2_048 }, 'a,b', 'VARCHAR', 'a,b'],
  ['json', 245, binary, '{"a": [1, null]}', 'JSON', '{"a": [1, null]}'],
  ['geometry', 255, binary, '\x00\x01', 'BLOB', '\\x00\\x01'],
  ['int that is NULL', 3, numeric, null, 'INTEGER', null],
  ['longtext that is NULL', 252, {}, null, 'VARCHAR', null],
]

/** Answers with a row of all values. The server half would write its texts in UTF-8. */
const answerTyped = (side: ServerSide): void => {
  side.writeColumns(typedValues.map(([name, code, more]) => column(name, code, more)))
  const sent = typedValues.map(([, , , value]) => (value === null ? '\xfb' : String.fromCharCode(value.length) + value))
  side.stream.write(packet(side.sequenceId, ...sent))
  side.sequenceId += 1
  side.writeEof()
}

/** Answers a statement over the tables `homes` and `words`, and what the service asks of the tables. */
const answerFromTables = ({ tables }: MysqlServer, side: ServerSide, sql: string): void => {
  const answered = tables.answer(sql)
  if ('refused' in answered) {
    side.writeError(answered.refused)
    return
  }
  side.writeColumns(answered.columns.map(({ name, code, more }) => column(name, code, more)))
  for (const row of answered.rows) side.writeTextRow(row)
  side.writeEof()
}

/** The status of an answer that another one follows. */
const moreAnswers = 2 | 8

/** Answers the call of a procedure that shows two numbers in two answers. */
const answerCall = (side: ServerSide): void => {
  for (const [name, value] of [
    ['first', '1'],
    ['second', '2'],
  ] as const) {
    side.writeColumns([column(name, 8, { characterSet: 63 })])
    side.writeTextRow([value])
    side.writeEof(0, moreAnswers)
  }
  side.writeOk({ affectedRows: 0 })
}

const answer = (own: MysqlServer, side: ServerSide, sql: string): void => {
  own.asked.push(sql)
  if (/^(?:SET|START|ROLLBACK|COMMIT)/.test(sql)) {
    side.writeOk({ affectedRows: 0 })
    return
  }
  if (sql.includes('unix_timestamp')) {
    side.writeTextResult([{ zone: own.isUtc ? '1' : '0' }], [column('zone', 8)])
    return
  }
  if (sql.includes('moments')) {
    side.writeTextResult([{ at: '2026-01-01 08:00:00' }], [column('at', 7, { characterSet: 63 })])
    return
  }
  if (sql.startsWith('KILL QUERY')) {
    own.killed += 1
    side.writeOk({ affectedRows: 0 })
    return
  }
  if (sql.includes('infile')) {
    // A server may answer any statement by asking for a file.
    const name = Buffer.from('\xfb/etc/passwd', 'latin1')
    side.stream.write(Buffer.concat([Buffer.from([name.length, 0, 0, 1]), name]))
    side.stream.once('data', (bytes) => {
      own.received = bytes
      side.stream.write(Buffer.from([7, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0]))
    })
    return
  }
  if (sql.includes('hang')) return
  if (sql.includes('break off')) {
    side.stream.destroy()
    return
  }
  if (sql.includes('refuse')) {
    side.writeError({ code: 1064, message: "You have an error near 'refuse' in mysql://me:secret@db/shop" })
    return
  }
  const table = Object.keys(amounts).find((name) => sql.includes(`\`${name}\``) || sql.includes(Buffer.from(name).toString('hex')))
  if (table !== undefined) {
    answerAmounts(side, sql, table)
    return
  }
  if (sql.includes('`granted`') || sql.includes(Buffer.from('granted').toString('hex'))) {
    answerGranted(side, sql)
    return
  }
  if (sql.includes('table_comment')) {
    side.writeTextResult(
      [
        { name: '', comment: 'What was sold' },
        { name: 'id', comment: '' },
        { name: 'word', comment: 'in German' },
      ],
      [column('name', 253), column('comment', 253)],
    )
    return
  }
  if (sql.includes('information_schema') || /\b(?:homes|hoems|words)\b/.test(sql)) {
    answerFromTables(own, side, sql)
    return
  }
  if (sql.startsWith('CALL')) {
    answerCall(side)
    return
  }
  if (sql === 'SELECT typed') {
    answerTyped(side)
    return
  }
  side.writeTextResult(
    [
      { id: '1', word: 'Größe', day: '2024-01-01', exact: '0.50' },
      { id: '-5', word: null, day: '0000-00-00', exact: null },
    ],
    [
      column('id', 8),
      column('word', 253),
      column('day', 10, { characterSet: 63 }),
      column('exact', 246, { characterSet: 63, columnLength: 8, decimals: 2 }),
    ],
  )
}

/** Starts a server with the half of the driver that speaks as one, on a port of this machine. It accepts every login as `me`. */
export const startMysql = async (): Promise<MysqlServer> => {
  const own: MysqlServer = {
    port: 0,
    asked: [],
    killed: 0,
    received: new Uint8Array(),
    isUtc: true,
    tables: openMysqlTables(),
    stop: () => undefined,
  }
  const createServer = Reflect.get(mysql, 'createServer') as unknown as (welcome: (side: ServerSide) => void) => {
    listen: (port: number, host: string) => void
    close: () => void
    _server: { address: () => AddressInfo; on: (event: string, hear: () => void) => void }
  }
  let id = 0
  const server = createServer((side) => {
    side.on('error', () => undefined)
    const hear = (sql: string) => {
      // The server half leaves it to its user to count the packets of each statement anew.
      side.sequenceId = 1
      answer(own, side, sql)
      side.sequenceId = 0
    }
    side.on('query', hear)
    // The server half calls SET the preparation of a statement.
    side.on('stmt_prepare', hear)
    side.on('quit', () => side.close())
    side.serverHandshake({
      ...{
        protocolVersion: 10,
        serverVersion: '8.0.36',
        connectionId: ++id,
        statusFlags: 2,
        characterSet: 45,
        capabilityFlags: 0x00fff7ff & ~0x800,
      },
      authCallback: (given: { user: string }, done: (error: unknown, refusal?: object) => void) =>
        done(
          null,
          given.user === 'me' ? undefined : { code: 1045, message: `Access denied for user '${given.user}' (password ${password})` },
        ),
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server._server as never, 'listening')
  own.port = server._server.address().port
  own.stop = () => server.close()
  return own
}
