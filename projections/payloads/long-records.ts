import { isObject, type Json } from '../../events/common.js'

/**
 * Limits for the record of an answer or a search with more than `wholeMaxBytes`: how much of it the tables hold of each text, how many
 * exchanges and uses of tools, and how much in all. DuckDB would need many times the memory for a record of the largest size. The record itself stays
 * whole, and REST shows all of it.
 */
export const recordLimits = { wholeMaxBytes: 256 * 1024, textMaxChars: 64 * 1024, allMaxChars: 1024 * 1024, itemsMax: 10_000 }

/** Part of the fingerprint of the tables. Change it whenever `tableText` keeps something else. */
export const recordForm = `3 ${JSON.stringify(recordLimits)}`

const member = (value: Json | undefined, name: string): Json | undefined => (isObject(value) ? value[name] : undefined)
const itemsIn = (value: Json | undefined): Json[] => (Array.isArray(value) ? value.slice(0, recordLimits.itemsMax) : [])

/** Cuts texts so that all of them together stay within the limit of JSON characters. */
class Cutter {
  #left = recordLimits.allMaxChars

  text(value: Json | undefined): string | null {
    if (typeof value !== 'string') return null
    const cut = value.slice(0, Math.min(recordLimits.textMaxChars, Math.max(0, this.#left)))
    this.#left -= JSON.stringify(cut).length
    // A cut may split a pair of surrogates, and half of a pair is not valid text.
    return cut.length === value.length ? value : `${cut.toWellFormed()}…`
  }

  json(value: Json | undefined): string | null {
    return value === undefined ? null : this.text(JSON.stringify(value))
  }
}

/** What a language model answered, and what it took back before. */
const responseIn = (response: Json | undefined, cutter: Cutter): object => {
  const remarks = member(response, 'remarks')
  return { ...(typeof remarks === 'string' && { remarks: cutter.text(remarks) }), text: cutter.text(member(response, 'text')) }
}

/** What a search said to its reranking model, and what this answered, as JSON text. */
const withExchanges = (tool: Json, cutter: Cutter): object => {
  const exchanges = member(tool, 'exchanges')
  return exchanges === undefined ? {} : { exchanges: cutter.json(exchanges) }
}

/** The members that the tables need, each cut. Messages are JSON text already. */
const cutRecord = (record: Json): object => {
  const cutter = new Cutter()
  const shown = { question: cutter.text(member(record, 'question')), answer: cutter.text(member(record, 'answer')) }
  const detail = member(member(record, 'failure'), 'detail')
  const exchanges = itemsIn(member(record, 'exchanges')).map((exchange) => ({
    new: cutter.json(member(exchange, 'new')),
    response: responseIn(member(exchange, 'response'), cutter),
  }))
  const tools = itemsIn(member(record, 'tools')).map((tool) => ({
    call: { input: cutter.text(member(member(tool, 'call'), 'input')) },
    output: cutter.text(member(tool, 'output')),
    sql: cutter.text(member(tool, 'sql')),
    ...withExchanges(tool, cutter),
  }))
  return { ...shown, exchanges, tools, ...(detail !== undefined && { failure: { detail: cutter.text(detail) } }) }
}

const textOf = (body: Uint8Array): string => Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')

/**
 * The record of an answer or a search as the tables are made from it: whole, or shortened where it is long. A long text that is no record becomes an
 * empty one, and counts as unreadable.
 */
export const shortRecord = (body: Uint8Array): string => {
  const text = textOf(body)
  if (body.byteLength <= recordLimits.wholeMaxBytes) return text
  try {
    const record = JSON.parse(text) as Json
    return isObject(record) ? JSON.stringify(cutRecord(record)) : ''
  } catch {
    // Ill-formed, or nested too deeply to be written again.
    return ''
  }
}

/**
 * The text of a payload as the tables are made from it, for an event of this type. An erasure names payloads of any type: those that are
 * lists, such as rows of predictions, stay whole.
 *
 * @example tableText('AgentAnswered', body)
 */
export const tableText = (type: string, body: Uint8Array): string => {
  if (type === 'AgentAnswered' || type === 'KnowledgeSearched') return shortRecord(body)
  const text = textOf(body)
  return type === 'DataErased' && !/^\s*\[/.test(text) ? shortRecord(body) : text
}
