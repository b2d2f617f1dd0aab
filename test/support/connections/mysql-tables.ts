import Database from 'better-sqlite3'

/** A column of an answer: the code of its type in MySQL's protocol, and what differs from a text of 255 bytes. */
export type AnsweredColumn = { name: string; code: number; more: object }

export type Answered =
  { columns: readonly AnsweredColumn[]; rows: readonly (string | null)[][] } | { refused: { code: number; message: string } }

/** The tables of a server with MySQL's protocol, and what information_schema says of them. */
export type MysqlTables = {
  /** Answers a SELECT of MySQL as this service writes it. */
  answer: (sql: string) => Answered
  /** Changes the tables in the SQL of SQLite. */
  run: (sql: string) => void
}

type Described = Omit<AnsweredColumn, 'name'>

const numeric = { characterSet: 63, columnLength: 20 }
/** What has another name is a number, such as a count. */
const others: Described = { code: 8, more: numeric }
const described: Readonly<Record<string, Described>> = {
  id: { code: 3, more: numeric },
  size: { code: 3, more: numeric },
  place: { code: 253, more: {} },
  word: { code: 253, more: {} },
  padded: { code: 253, more: {} },
  rent: { code: 246, more: { characterSet: 63, columnLength: 12, decimals: 2 } },
}

/**
 * SQLite takes names in back-quotes. It has no character sets, and BLOB is its word for BINARY. A comparison has the collation of its
 * column; SQLite has NOCASE and RTRIM in the place of those of MySQL.
 */
const inSqlite = (sql: string): string =>
  sql
    .replaceAll(/CONVERT\(0x([0-9a-f]+) USING utf8mb4\)(?: COLLATE utf8mb4_\w+)?/g, "CAST(x'$1' AS TEXT)")
    .replaceAll(/CONVERT\(((?:\w+\.)?`\w+`) USING utf8mb4\)/g, '$1')
    .replaceAll(' AS BINARY)', ' AS BLOB)')

/** LIKE of MySQL: texts by a collation without case, and bytes as they are. */
const isLike = (pattern: string | Buffer, value: string | Buffer | null, escape: string): 0 | 1 | null => {
  if (value === null) return null
  const isOfBytes = Buffer.isBuffer(value)
  const signs = pattern.toString('latin1').split('')
  let source = ''
  for (let i = 0; i < signs.length; i++) {
    const isEscaped = signs[i] === escape
    const sign = (isEscaped ? signs[++i] : signs[i]) ?? ''
    source += !isEscaped && sign === '%' ? '.*' : !isEscaped && sign === '_' ? '.' : sign.replace(/[^a-z0-9]/gi, String.raw`\$&`)
  }
  return new RegExp(`^${source}$`, isOfBytes ? 's' : 'si').test(value.toString('latin1')) ? 1 : 0
}

type Cell = string | number | bigint | Buffer | null

const textOf = (value: Cell, { code }: AnsweredColumn): string | null =>
  value === null ? null : code === 246 ? Number(value).toFixed(2) : value.toString()

/** The table `homes` of the database `shop`, with 200 rows. */
export const openMysqlTables = (): MysqlTables => {
  const held = new Database(':memory:')
  held.function('like', { deterministic: true }, isLike)
  held.exec(`
    CREATE TABLE homes (id INTEGER NOT NULL, size INTEGER, place TEXT, rent NUMERIC);
    WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 200)
      INSERT INTO homes SELECT i, 300 + i % 4 * 10, CASE i % 3 WHEN 0 THEN 'gut' WHEN 1 THEN 'größer' END, 500 + i * 12.5 FROM n;
    ATTACH ':memory:' AS information_schema;
    CREATE TABLE information_schema.tables (table_schema TEXT, table_name TEXT, table_type TEXT);
    INSERT INTO information_schema.tables VALUES ('shop', 'homes', 'BASE TABLE');
    CREATE TABLE information_schema.columns (table_schema TEXT, table_name TEXT, ordinal_position INTEGER, column_name TEXT, data_type TEXT,
      column_type TEXT, numeric_precision INTEGER, numeric_scale INTEGER, character_set_name TEXT, collation_name TEXT, is_nullable TEXT);
    INSERT INTO information_schema.columns VALUES
      ('shop', 'homes', 1, 'id', 'int', 'int', 10, 0, NULL, NULL, 'NO'),
      ('shop', 'homes', 2, 'size', 'int', 'int', 10, 0, NULL, NULL, 'YES'),
      ('shop', 'homes', 3, 'place', 'varchar', 'varchar(20)', NULL, NULL, 'utf8mb4', NULL, 'YES'),
      ('shop', 'homes', 4, 'rent', 'decimal', 'decimal(10,2)', 10, 2, NULL, NULL, 'YES');`)
  return {
    answer: (sql) => {
      try {
        const statement = held.prepare<[], Cell[]>(inSqlite(sql)).raw().safeIntegers()
        const columns = statement.columns().map(({ name }) => ({ name, ...(described[name] ?? others) }))
        const rows = statement.all().map((row) => columns.map((column, index) => textOf(row[index] ?? null, column)))
        return { columns, rows }
      } catch (error) {
        const message = error instanceof Error ? error.message : ''
        return { refused: { code: /no such table/.test(message) ? 1146 : 1064, message } }
      }
    },
    run: (sql) => void held.exec(sql),
  }
}
