import { readFile } from 'node:fs/promises'
import { isObject } from '../../../../events/common.js'
import { Problem, errorText } from '../../../basics/errors.js'

/** The part of `@huggingface/tokenizers` that is used. ECMAScript modules cannot resolve the types of the package. */
export type Tokenizer = { encode: (text: string) => { ids: readonly number[] } }
type Library = { Tokenizer: new (json: object, config: object) => Tokenizer }

/**
 * Reads a tokenizer.json. Its settings for truncation and padding are ignored.
 *
 * @throws Problem bad_file; `name` is the name of the uploaded file
 */
export const readTokenizer = async (path: string, name: string): Promise<Tokenizer> => {
  const library = (await import('@huggingface/tokenizers')) as Library
  try {
    const json: unknown = JSON.parse(await readFile(path, 'utf8'))
    if (!isObject(json)) throw new TypeError('it is no object')
    const tokenizer = new library.Tokenizer({ ...json, truncation: null, padding: null }, {})
    tokenizer.encode('a')
    return tokenizer
  } catch (error) {
    throw new Problem('bad_file', 'Not a tokenizer', `files.${name} cannot be read as tokenizer.json`, {
      hint: 'Upload the tokenizer.json that stands beside the model.',
      cause: errorText(error),
    })
  }
}

/** The numbers of special tokens before and after a text. The tokens of all texts begin with the same special tokens. */
const marksOf = (tokenizer: Tokenizer): { before: number; behind: number } => {
  const [empty, other] = [tokenizer.encode('').ids, tokenizer.encode('a').ids]
  const differs = empty.findIndex((id, i) => id !== other[i])
  const before = differs < 0 ? empty.length : differs
  return { before, behind: empty.length - before }
}

/**
 * The tokens of a text, in parts that fit the model: as few parts as possible, about equally long. Each part has the special tokens of a
 * whole text, because models expect them.
 *
 * @example partsOf(tokenizer, 'some words', 256) // [[101, 2070, 2616, 102]]
 */
export const partsOf = (tokenizer: Tokenizer, text: string, maxTokens: number): (readonly number[])[] => {
  const { ids } = tokenizer.encode(text)
  if (ids.length <= maxTokens) return [ids]
  const { before, behind } = marksOf(tokenizer)
  const inner = ids.slice(before, ids.length - behind)
  const parts = Math.ceil(inner.length / Math.max(1, maxTokens - before - behind))
  const length = Math.ceil(inner.length / parts)
  return Array.from({ length: parts }, (_, part) => [
    ...ids.slice(0, before),
    ...inner.slice(part * length, (part + 1) * length),
    ...ids.slice(ids.length - behind),
  ])
}
