import { isObject, type Json } from '../../events/common.js'

/**
 * What the tables hold of the record of an answer that has more than `wholeMaxBytes`: this much of each text, of so many exchanges and
 * uses of tools, and of all of them together. DuckDB would need many times the memory for a record of the largest size. The record
 * itself stays whole, and REST shows all of it.
 */
export const recordLimits = { wholeMaxBytes: 256 * 1024, textMaxChars: 64 * 1024, allMaxChars: 1024 * 1024, itemsMax: 10_000 }

/** Stands in the fingerprint of the tables: to be changed with what `shortRecord` keeps. */
export const recordForm = `1 ${JSON.stringify(recordLimits)}`

const member = (value: Json | undefined, name: string): Json | undefined => (isObject(value) ? value[name] : undefined)
const itemsIn = (value: Json | undefined): Json[] => (Array.isArray(value) ? value.slice(0, recordLimits.itemsMax) : [])

/** Cuts texts until all of them together have as many characters of JSON as there may be. */
class Cutter {
  #left = recordLimits.allMaxChars

  text(value: Json | undefined): string | null {
    if (typeof value !== 'string') return null
    const cut = value.slice(0, Math.min(recordLimits.textMaxChars, Math.max(0, this.#left)))
    this.#left -= JSON.stringify(cut).length
    // A cut may go through a pair of surrogates, and half of one is no text.
    return cut.length === value.length ? value : `${cut.toWellFormed()}…`
  }

  json(value: Json | undefined): string | null {
    return value === undefined ? null : this.text(JSON.stringify(value))
  }
}

/** The members that the tables are made of, each cut. Messages are JSON text already. */
const cutRecord = (record: Json): object => {
  const cutter = new Cutter()
  const shown = { question: cutter.text(member(record, 'question')), answer: cutter.text(member(record, 'answer')) }
  const exchanges = itemsIn(member(record, 'exchanges')).map((exchange) => ({
    new: cutter.json(member(exchange, 'new')),
    response: { text: cutter.text(member(member(exchange, 'response'), 'text')) },
  }))
  const tools = itemsIn(member(record, 'tools')).map((tool) => ({
    call: { input: cutter.text(member(member(tool, 'call'), 'input')) },
    output: cutter.text(member(tool, 'output')),
    sql: cutter.text(member(tool, 'sql')),
  }))
  return { ...shown, exchanges, tools }
}

/**
 * The record of an answer as the tables are made from it: whole, or shortened where it is long. A long one that is no record at all is
 * empty, and cannot be read.
 */
export const shortRecord = (body: Uint8Array): string => {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')
  if (body.byteLength <= recordLimits.wholeMaxBytes) return text
  try {
    const record = JSON.parse(text) as Json
    return isObject(record) ? JSON.stringify(cutRecord(record)) : ''
  } catch {
    // Ill-formed, or nested too deeply to be written again.
    return ''
  }
}
