import * as z from 'zod'
import { MissingKeyError } from '../../../projections/problem.js'
import { inOwnDirectory } from '../../basics/disk.js'
import { Problem } from '../../basics/errors.js'
import { ConfigError } from '../../setup/config.js'
import { dataPaths } from '../../setup/data-directory.js'
import { openLogReader, type LogReader } from '../../log/sqlite/log-reader.js'
import { openModels, type ModelsAtRest, type NamedVersion } from '../../log/sqlite/models-at-rest.js'
import type { Progress } from '../../models/engines/tabular/fit.js'
import { reproduce, type Reproduction } from '../../models/training/reproduction.js'
import { Trainer } from '../../models/training/trainer.js'
import type { Output } from '../terminal/output.js'
import { withBlobs, type ReadBlobs } from '../access/blobs-at-rest.js'
import { refusalText, withServer, type CommandConfig, type Server } from '../access/server.js'

export type ReproduceOptions = {
  /** `[project.]model[.version]`; undefined for all trained versions. */
  name: string | undefined
  json: boolean
}

const checkSchema = z.looseObject({ data: z.enum(['same', 'changed', 'unavailable']), detail: z.string(), read_at: z.number() })
type DataReproduction = { data: 'same' | 'changed' | 'unavailable'; data_detail: string }

type ModelReproduction = { model: string } & Reproduction & DataReproduction

const statuses = { reproduced: 0, different: 1, impossible: 2 } as const

/** Whether the query still returns the training rows; only the service can run it. */
const checkData = async (server: Server, { project, model, version: { version } }: NamedVersion): Promise<DataReproduction> => {
  const path = `/api/projects/${encodeURIComponent(project)}/models/${encodeURIComponent(`${model}.${version}`)}/data_check`
  const { body } = await server.get(path, true)
  const checked = checkSchema.safeParse(body).data
  return checked ? { data: checked.data, data_detail: checked.detail } : { data: 'unavailable', data_detail: refusalText(body) }
}

const shown = ({ phase, done, total }: Progress): string => `${phase} ${Math.round((100 * done) / Math.max(total, 1))} %`

const show = ({ model, result, detail, artefact, seconds, data, data_detail }: ModelReproduction, out: Output): void => {
  const words = { reproduced: 'reproduced', different: 'DIFFERENT', impossible: 'could not be reproduced' }
  const took = seconds === null ? '' : ` in ${seconds} s`
  out.line(`${model}: ${words[result]}${took}, ${artefact.slice(0, 12)}… by its event`)
  out.line(`  ${detail}.`)
  out.line(`  Its data: ${data}. ${data_detail}`)
}

const summary = (told: readonly ModelReproduction[]): string => {
  const count = (result: ModelReproduction['result']) => told.filter((one) => one.result === result).length
  return `${count('reproduced')} reproduced, ${count('different')} different, ${count('impossible')} could not be reproduced`
}

const chosen = (models: ModelsAtRest, { name }: ReproduceOptions, defaultProject: string): NamedVersion[] => {
  if (name !== undefined) return [models.named(name, defaultProject)]
  const all = models.all()
  if (all.length === 0) throw new ConfigError('there is no trained model yet: CREATE MODEL makes one.')
  return all
}

/** The payload of a version, whose reproduction fails without the key. Other versions need none. */
const payloadFrom =
  (reader: LogReader) =>
  async (hash: string): Promise<Buffer | undefined> => {
    try {
      return reader.payload(hash)
    } catch (error) {
      if (!(error instanceof MissingKeyError)) throw error
      const needed = `it needs the master key ${error.keyId}: set VAULT_KEY, or put vault.key back`
      throw new Problem('not_ready', 'Master key missing', needed)
    }
  }

const run = async (config: CommandConfig, options: ReproduceOptions, server: Server, out: Output): Promise<number> => {
  const paths = dataPaths(config.dataDirectory)
  const models = openModels(paths)
  const reader = openLogReader(config.dataDirectory, config.masterKeys, true)
  const told: ModelReproduction[] = []
  const again = async (work: string, blobs: ReadBlobs): Promise<void> => {
    const log = { ...models.log, payload: payloadFrom(reader) }
    const parts = { blobs, log, trainer: new Trainer(), work }
    for (const named of chosen(models, options, config.defaultProject)) {
      const model = `${named.project}.${named.model}.${named.version.version}`
      const onProgress = (progress: Progress) => out.progress(`${model}: ${shown(progress)}`)
      const trained = await reproduce(named, { ...parts, onProgress })
      const one = { model, ...trained, ...(await checkData(server, named)) }
      told.push(one)
      if (options.json) out.line(JSON.stringify(one))
      else show(one, out)
    }
  }
  try {
    await inOwnDirectory(paths.temporary, 'reproduce-', (work) => withBlobs(config, paths, (blobs) => again(work, blobs)))
  } finally {
    models.close()
    reader.close()
  }
  if (!options.json && options.name === undefined) out.line(summary(told))
  const found = told.map(({ result }) => statuses[result])
  return found.includes(1) ? 1 : Math.max(...found)
}

/**
 * `mindledger reproduce <[project.]model[.version]>`, or `--all`: trains again from the kept rows and compares the bytes. Exit status
 * 0 when all are the same, 1 when any differ, 2 when any could not be trained again or compared. Whether the query still returns
 * those rows is shown separately and does not count.
 */
export const reproduceModels = (config: CommandConfig, options: ReproduceOptions, out: Output): Promise<number> =>
  withServer(config, (server) => run(config, options, server, out))
