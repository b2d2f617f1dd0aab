import { readFile } from 'node:fs/promises'
import type { JsonObject } from '../../../events/common.js'
import type { ModelFiles } from '../../../events/records/contents.js'
import { notFound, Problem, wrong } from '../../basics/errors.js'
import { LongWork } from '../../basics/long-work.js'
import type { BlobStore, HeldBlob } from '../../files/blob-store.js'
import { isTable } from '../../files/formats/formats.js'
import type { EmbeddingModel } from '../../llm/contract/language-model.js'
import type { Resources } from '../../log/contract/log.js'
import { inspectOnnx } from '../../models/engines/onnx/inspect.js'
import type { Output, Signature } from '../../models/engines/onnx/messages.js'
import { OnnxProcess } from '../../models/engines/onnx/process.js'
import type { TensorType } from '../../models/engines/onnx/runtime.js'

/** The files of a sentence transformer, by the names in `embedding_model`. */
type Settings = { file: string; tokenizer: string; maxTokens: number }

const defaultMaxTokens = 256
const mostTokens = 8_192

const textIn = (settings: JsonObject, key: string): string | undefined => {
  const value = settings[key]
  return typeof value === 'string' && value !== '' ? value.replace(/^files\./i, '') : undefined
}

/** The settings of an uploaded model: its tokenizer is `<file>_tokenizer` unless another file is named. */
export const readOnnxEmbedding = (settings: JsonObject): Settings => {
  const file = textIn(settings, 'file') ?? ''
  const maxTokens = settings['max_tokens'] ?? defaultMaxTokens
  if (typeof maxTokens !== 'number' || !Number.isInteger(maxTokens) || maxTokens < 8 || maxTokens > mostTokens)
    throw wrong(`embedding_model.max_tokens: must be a whole number from 8 to ${mostTokens}`)
  return { file, tokenizer: textIn(settings, 'tokenizer') ?? `${file}_tokenizer`, maxTokens }
}

type Files = { resources: Pick<Resources, 'one'>; blobs: BlobStore }

/** The hash of an uploaded file that is stored unchanged. */
const keptFile = async ({ resources, blobs }: Files, name: string, what: string): Promise<string> => {
  const found = await resources.one('file', name)
  if (!found) {
    const { code, title, detail } = notFound('file', name)
    throw new Problem(code, title, `${detail}: it is the ${what} of the embedding model`, {
      hint: `PUT /api/files/${name} with ${what === 'tokenizer' ? 'tokenizer.json' : 'the .onnx file'} as a form part "file".`,
    })
  }
  const { columns, content } = found.state
  if (isTable({ columns }))
    throw new Problem('bad_file', 'Not kept as it is', `files.${name} is a table, and not the ${what} of a model`, {
      hint: 'Upload it again under its own name, model.onnx or tokenizer.json: then it is kept as it is.',
    })
  if (!(await blobs.has(content))) throw new Problem('not_found', 'File not found', `The content of files.${name} is no longer kept`)
  return content
}

/** The hash of the content of a file that made the vectors of a knowledge base. */
const madeWith = async ({ blobs }: Files, sha: string, name: string, what: string): Promise<string> => {
  if (await blobs.has(sha)) return sha
  throw new Problem('not_found', 'File not found', `The ${what} that made the vectors of the knowledge base is no longer kept`, {
    hint: `Upload it again, under any name (it was files.${name}, SHA-256 ${sha}), or insert the documents into another knowledge base.`,
  })
}

/** The mean of the vectors of all tokens, or the vector of the whole text if the model returns one. */
const pooled = ({ type, dims, data }: Output, sum: Float64Array | undefined): { sum: Float64Array; tokens: number } => {
  const width = dims.at(-1) ?? 0
  const tokens = dims.length === 3 ? (dims[1] ?? 0) : 1
  if (type !== 'float32' || width === 0 || data.length !== tokens * width)
    throw new Problem('bad_file', 'Not an embedding model', 'the model gives no vectors of 32-bit numbers', {
      hint: 'Export it with sentence-transformers or optimum, task feature-extraction.',
    })
  const total = sum ?? new Float64Array(width)
  for (let token = 0; token < tokens; token++) for (let i = 0; i < width; i++) total[i] = (total[i] ?? 0) + Number(data[token * width + i])
  return { sum: total, tokens }
}

const tokenInputs = ['input_ids', 'attention_mask', 'token_type_ids']

/** An uploaded sentence transformer, which runs in a separate process of this machine. */
export class OnnxEmbedder implements EmbeddingModel {
  readonly provider = 'onnx'
  readonly host = 'localhost'
  #signature: Promise<Signature> | undefined
  #embedding = 0
  #isRetired = false

  private constructor(
    readonly model: string,
    readonly files: ModelFiles,
    private readonly maxTokens: number,
    private readonly process: OnnxProcess,
    private readonly held: readonly HeldBlob[],
  ) {}

  /** Opens the files that are uploaded now, or those that made vectors before. @throws Problem not_found, bad_file, too_large */
  static async open(settings: JsonObject, files: Files, made?: ModelFiles): Promise<OnnxEmbedder> {
    const { file, tokenizer: name, maxTokens } = readOnnxEmbedding(settings)
    const hashOf = (of: string, what: string, sha: string | undefined) =>
      sha === undefined ? keptFile(files, of, what) : madeWith(files, sha, of, what)
    const model = await hashOf(file, 'ONNX file', made?.model)
    const tokenizer = await hashOf(name, 'tokenizer', made?.tokenizer)
    const held: HeldBlob[] = []
    const hold = async (sha: string): Promise<string> => {
      const one = await files.blobs.hold(sha)
      held.push(one)
      return one.file
    }
    let process: OnnxProcess | undefined
    try {
      const path = await hold(model)
      inspectOnnx(await readFile(path))
      process = new OnnxProcess({ file: path, offset: 0 }, {}, { file: await hold(tokenizer), name })
      // A file that is no tokenizer is refused now.
      await process.parts('', maxTokens)
      return new OnnxEmbedder(file, { model, tokenizer }, maxTokens, process, held)
    } catch (error) {
      process?.end()
      for (const one of held) one.release()
      throw error
    }
  }

  async embed(texts: readonly string[], { signal }: { signal: AbortSignal }): Promise<Float32Array[]> {
    const vectors: Float32Array[] = []
    const work = new LongWork()
    this.#embedding += 1
    try {
      for (const text of texts) {
        signal.throwIfAborted()
        vectors.push(await this.#one(text))
        await work.pause()
      }
      return vectors
    } finally {
      this.#embedding -= 1
      this.#endIfRetired()
    }
  }

  /** Ends the process at once. */
  end(): void {
    this.process.end()
    for (const one of this.held) one.release()
  }

  /** Ends the process once it is idle, because another model has replaced this one. */
  retire(): void {
    this.#isRetired = true
    this.#endIfRetired()
  }

  #endIfRetired(): void {
    if (this.#isRetired && this.#embedding === 0) this.end()
  }

  /** A long text is read in parts of about the same length, so that its end counts as much as its beginning. */
  async #one(text: string): Promise<Float32Array> {
    let sum: Float64Array | undefined
    let tokens = 0
    for (const ids of await this.process.parts(text, this.maxTokens)) {
      const part = pooled(await this.#run(ids), sum)
      sum = part.sum
      tokens += part.tokens
    }
    return Float32Array.from(sum ?? [], (value) => value / tokens)
  }

  /** Embeds one text at a time: with a quantised model, a vector depends on the other texts of its batch. */
  async #run(ids: readonly number[]): Promise<Output> {
    this.#signature ??= this.process.signature()
    const { inputs, outputs } = await this.#signature.catch((error: unknown) => {
      this.#signature = undefined
      throw error
    })
    const other = inputs.find(({ name }) => !tokenInputs.includes(name))
    if (other)
      throw new Problem(
        'bad_file',
        'Not an embedding model',
        `the model has an input "${other.name}"; only ${tokenInputs.join(', ')} can be given`,
      )
    const output = outputs.find(({ name }) => /sentence_embedding|last_hidden_state/.test(name)) ?? outputs[0]
    // The mask includes all tokens, because no text is padded. Token types are all 0, because there is no second text.
    const valueOf = (name: string, id: number): number => (name === 'input_ids' ? id : name === 'attention_mask' ? 1 : 0)
    const columns = inputs.flatMap(({ name }) => ids.map((id) => new Float64Array([valueOf(name, id)])))
    const tensors = inputs.map(({ name, type }) => ({ name, type: type as TensorType, columns: ids.length, flat: false }))
    const [result] = await this.process.run({ tensors, columns, rows: 1, batch: 1, outputs: [output?.name ?? ''] })
    if (!result) throw new Problem('bad_file', 'Not an embedding model', 'the model has no output')
    return result
  }
}
