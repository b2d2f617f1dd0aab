import { isObject, type Json } from '../../events/common.js'

/**
 * Limits for the record of an answer or a search with more than `wholeMaxBytes`: how much of it the tables hold of each text, how many
 * exchanges and uses of tools, and how much in all. DuckDB would need many times the memory for a record of the largest size. The record
 * itself stays whole, and REST shows all of an answer.
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

/** Why there is no answer, or why a search failed. */
const failureIn = (record: Json, cutter: Cutter): object => {
  const detail = member(member(record, 'failure'), 'detail')
  return detail === undefined ? {} : { failure: { detail: cutter.text(detail) } }
}

/** What was said to a reranking model, and what this answered: whole JSON with the beginnings of its texts. */
const exchangesIn = (exchanges: Json | undefined, cutter: Cutter): object[] =>
  itemsIn(exchanges).map((exchange) => {
    const response = member(exchange, 'response')
    const [error, finish] = [member(response, 'error'), member(response, 'finish')]
    return {
      new: itemsIn(member(exchange, 'new')).map((message) => ({
        role: cutter.text(member(message, 'role')),
        content: cutter.text(member(message, 'content')),
      })),
      response: {
        ...responseIn(response, cutter),
        ...(error !== undefined && { error: cutter.text(error) }),
        ...(finish !== undefined && { finish: cutter.text(finish) }),
      },
    }
  })

/** The members that the tables need, each cut. Messages are JSON text already. */
const cutRecord = (record: Json): object => {
  const cutter = new Cutter()
  const shown = { question: cutter.text(member(record, 'question')), answer: cutter.text(member(record, 'answer')) }
  const exchanges = itemsIn(member(record, 'exchanges')).map((exchange) => ({
    new: cutter.json(member(exchange, 'new')),
    response: responseIn(member(exchange, 'response'), cutter),
  }))
  const tools = itemsIn(member(record, 'tools')).map((tool) => ({
    call: { input: cutter.text(member(member(tool, 'call'), 'input')) },
    output: cutter.text(member(tool, 'output')),
    sql: cutter.text(member(tool, 'sql')),
    ...(member(tool, 'exchanges') !== undefined && { exchanges: exchangesIn(member(tool, 'exchanges'), cutter) }),
  }))
  return { ...shown, exchanges, tools, ...failureIn(record, cutter) }
}

/** The same of a search. */
const cutSearch = (record: Json): object => {
  const cutter = new Cutter()
  const question = cutter.text(member(record, 'question'))
  return { question, exchanges: exchangesIn(member(record, 'exchanges'), cutter), ...failureIn(record, cutter) }
}

const textOf = (body: Uint8Array): string => Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')

/**
 * The record of an answer or a search as the tables are made from it: whole, or shortened where it is long. A long text that is no record
 * becomes an empty one, and counts as unreadable.
 */
export const shortRecord = (body: Uint8Array, cut: (record: Json) => object = cutRecord): string => {
  const text = textOf(body)
  if (body.byteLength <= recordLimits.wholeMaxBytes) return text
  try {
    const record = JSON.parse(text) as Json
    return isObject(record) ? JSON.stringify(cut(record)) : ''
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
  if (type === 'AgentAnswered') return shortRecord(body)
  if (type === 'KnowledgeSearched') return shortRecord(body, cutSearch)
  const text = textOf(body)
  return type === 'DataErased' && !/^\s*\[/.test(text) ? shortRecord(body) : text
}
