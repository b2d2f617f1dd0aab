/**
 * An error of DuckDB about a text. `kind` is DuckDB's word for the sort of error (`Binder`, `Conversion`). `bytes` is the place in the text
 * that was run, as an offset in UTF-8 bytes. `name` is the name that was not found, `candidates` are similar names.
 */
export type DuckDBError = { kind: string; message: string; bytes: number | undefined; name: string | undefined; candidates: string[] }

/** Errors of the binding may come from another realm, where `instanceof` is false. */
const messageOf = (error: unknown): string => {
  const message: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'message') : error
  return typeof message === 'string' ? message : 'unknown error'
}

/** A message may repeat a name or a value of the statement. Either may be as long as the statement. */
const longestMessage = 20_000

const kindAt = /^([A-Z][A-Za-z ]*) Error: /i

const memberOf = (fields: object, key: string): string | undefined => {
  const value: unknown = Reflect.get(fields, key)
  return typeof value === 'string' && value !== '' ? value : undefined
}

const parsed = (text: string): object | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/** Names with commas between them; the commas inside `date_sub(VARCHAR, DATE, DATE) -> BIGINT` do not separate names. */
const listOf = (text: string): string[] => text.match(/(?:[^,(]|\([^)]{0,500}\))+/g)?.map((name) => name.trim()) ?? []

const decode = (error: unknown): DuckDBError => {
  const text = messageOf(error)
  const kind = kindAt.exec(text)?.[1]
  const body = text.replace(kindAt, '')
  const fields = body.startsWith('{') ? parsed(body) : undefined
  if (!fields) return { kind: kind ?? '', message: body, bytes: undefined, name: undefined, candidates: [] }
  const bytes = Number(memberOf(fields, 'position') ?? NaN)
  return {
    kind: memberOf(fields, 'exception_type') ?? kind ?? '',
    message: memberOf(fields, 'exception_message') ?? '',
    bytes: Number.isNaN(bytes) ? undefined : bytes,
    name: memberOf(fields, 'name'),
    candidates: listOf(memberOf(fields, 'candidates') ?? ''),
  }
}

/** Some messages also show the line that they are about. The caret of this line is not a place in our text. */
const withoutLine = (message: string): string => message.replace(/(?<!\n)\n+LINE \d+:[\s\S]*$/, '')

/**
 * Reads an error of DuckDB, whether it came as JSON (`errors_as_json`) or as text.
 *
 * @example readDuckDBError(error).kind // 'Binder'
 */
export const readDuckDBError = (error: unknown): DuckDBError => {
  const decoded = decode(error)
  return { ...decoded, message: withoutLine(decoded.message.slice(0, longestMessage)) }
}
