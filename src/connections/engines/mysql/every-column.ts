import type { Connection as Client } from 'mysql2'
import { limits } from '../../../basics/limits.js'
import type { ListedColumn, ListedColumns } from '../../contract/requests.js'
import { run } from './cursor.js'
import type { BytesReading, Field, UnsettledBytes } from './types.js'

/** The types of an answer by their names in a declaration; all others come as text or bytes. */
const codes: Readonly<Record<string, number>> = {
  ...{ tinyint: 1, smallint: 2, int: 3, float: 4, double: 5, timestamp: 7, bigint: 8, mediumint: 9, date: 10, time: 11, datetime: 12 },
  ...{ year: 13, bit: 16, json: 245, decimal: 246 },
  ...{ geometry: 255, point: 255, linestring: 255, polygon: 255, multipoint: 255, multilinestring: 255, multipolygon: 255 },
  ...{ geometrycollection: 255, geomcollection: 255 },
}
const textCode = 253
const [binaryCharset, textCharset] = [63, 45]
const unsignedFlag = 32

type DeclaredColumn = { name: string; kind: string; type: string; precision: number; scale: number; isText: boolean; isJson: boolean }

/** How an answer would describe a column with this declaration. */
const fieldOf = ({ name, kind, type, precision, scale, isText, isJson }: DeclaredColumn): Field => {
  const isUnsigned = type.includes('unsigned')
  return {
    name,
    columnType: codes[kind] ?? textCode,
    flags: isUnsigned ? unsignedFlag : 0,
    characterSet: isText ? textCharset : binaryCharset,
    columnLength: precision + (scale > 0 ? 1 : 0) + (isUnsigned ? 0 : 1),
    decimals: scale,
    ...(kind === 'uuid' && { extendedTypeName: 'uuid' }),
    ...(isJson && { extendedFormat: 'json' }),
  }
}

const texts = (rows: readonly (readonly (Buffer | null)[])[]): string[][] => rows.map((row) => row.map((value) => value?.toString() ?? ''))

/** In MariaDB JSON is text with a check, which has the name of its column. Other servers have no such list. */
const jsonColumns = async (client: Client, where: string): Promise<ReadonlySet<string>> => {
  const sql = `SELECT constraint_schema, table_name, constraint_name FROM information_schema.check_constraints
    WHERE check_clause LIKE 'json\\\\_valid(%' AND ${where.replace('table_schema', 'constraint_schema')}`
  try {
    return new Set(texts(await run(client, sql)).map((place) => JSON.stringify(place)))
  } catch (error) {
    if (error instanceof Error && typeof Reflect.get(error, 'sqlMessage') === 'string') return new Set()
    throw error
  }
}

/** The columns of all tables and views that a condition on `table_schema` names, in one query; names of those in `usual` need no schema. */
export const listColumns = async (
  client: Client,
  where: string,
  usual: string | undefined,
  readingOf: (field: Field) => BytesReading | UnsettledBytes,
): Promise<ListedColumns> => {
  const found = texts(
    await run(
      client,
      `SELECT table_schema, table_name, column_name, data_type, column_type, numeric_precision, numeric_scale, character_set_name, is_nullable
       FROM information_schema.columns WHERE ${where} ORDER BY table_schema, table_name, ordinal_position
       LIMIT ${limits.connectionColumnsMax + 1}`,
    ),
  )
  const json = await jsonColumns(client, where)
  const listed = found.slice(0, limits.connectionColumnsMax)
  return {
    listed: listed.map(
      ([schema = '', table = '', name = '', kind = '', remote = '', precision, scale, charset, nullable]): ListedColumn => {
        const isJson = json.has(JSON.stringify([schema, table, name]))
        // Addresses of MariaDB come as text, and have no character set.
        const isText = charset !== '' || /^(?:enum|set|inet4|inet6)$/.test(kind)
        const field = fieldOf({ name, kind, type: remote, precision: Number(precision), scale: Number(scale), isText, isJson })
        const reading = readingOf(field)
        return {
          schema,
          table,
          name,
          remote,
          nullable: nullable !== 'NO',
          isUsual: schema === usual,
          type: ('settle' in reading ? reading.settle([]) : reading).type,
        }
      },
    ),
    isCut: found.length > listed.length,
  }
}
