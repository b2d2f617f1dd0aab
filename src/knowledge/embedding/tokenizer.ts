import { readFile } from 'node:fs/promises'
import { isObject } from '../../../events/common.js'
import { Problem } from '../../basics/errors.js'

/** The part of `@huggingface/tokenizers` that is used. Its own types cannot be resolved by ECMAScript modules. */
export type Tokenizer = { encode: (text: string) => { ids: readonly number[] } }
type Library = { Tokenizer: new (json: object, config: object) => Tokenizer }

const packageName: string = '@huggingface/tokenizers'

/**
 * Reads a tokenizer.json. What it says of cutting and filling texts is for its own library.
 *
 * @throws Problem bad_file; `name` is the name of the uploaded file
 */
export const readTokenizer = async (path: string, name: string): Promise<Tokenizer> => {
  const library = (await import(packageName)) as Library
  try {
    const json: unknown = JSON.parse(await readFile(path, 'utf8'))
    if (!isObject(json)) throw new TypeError('it is no object')
    const tokenizer = new library.Tokenizer({ ...json, truncation: null, padding: null }, {})
    tokenizer.encode('a')
    return tokenizer
  } catch (error) {
    throw new Problem('bad_file', 'Not a tokenizer', `files.${name} cannot be read as tokenizer.json`, {
      hint: 'Upload the tokenizer.json that stands beside the model.',
      cause: error instanceof Error ? error.message : String(error),
    })
  }
}
