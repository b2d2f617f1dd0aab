/** Room: settings, the data directory, and where programs stand. It imports only events and basics. */

import { isIP } from 'node:net'
import { resolve } from 'node:path'
import * as z from 'zod'
import { resourceName } from '../../events/common.js'
import { limits } from '../basics/limits.js'
import { mask } from '../basics/shown.js'
import { languageModelSettings, readModelAccess, type ModelAccess } from './language-model-settings.js'
import { addressesIn, isClear, isPostgresUrl, placeIn, postgresUrlRule } from './postgres-url.js'
import { durationMs, sizeBytes } from './units.js'

/** A setting that cannot be used; the message has the variable and its possible values. */
export class ConfigError extends Error {}

const portRule = 'must be a whole number from 0 to 65535'

/** A setting that is a number of tokens. */
const tokens = (most: number) => {
  const rule = `must be a whole number from 0 to ${most}`
  return z.coerce.number(rule).int(rule).min(0, rule).max(most, rule)
}

const rangeRule = `must be a whole number from ${limits.exportRangeMinPositions} to ${limits.exportRangeMaxPositions}`

const hostEntry = /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i

/** The proxies whose `X-Forwarded-…` headers are trusted: none, a number of consecutive proxies, or these addresses and networks. */
export type TrustedProxies = false | number | readonly string[]

/** Names that may be used instead of the proxy's address. */
const networkNames: ReadonlySet<string> = new Set(['loopback', 'linklocal', 'uniquelocal'])

const isNetwork = (entry: string): boolean => {
  const [address = '', bits, ...more] = entry.split('/')
  const version = isIP(address)
  if (networkNames.has(entry)) return true
  if (version === 0 || more.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= (version === 4 ? 32 : 128))
}

const proxiesOf = (text: string): number | readonly string[] =>
  /^[1-9]$/.test(text) ? Number(text) : text.split(',').map((entry) => entry.trim())

const keyHex = z.string().regex(/^[0-9a-f]{64}$/i, 'must be 64 hex digits (openssl rand -hex 32)')

/** The time for which something is kept, in milliseconds. */
const retention = z
  .string()
  .regex(/^[1-9]\d{0,5}[smhd]$/, 'must be a number and a unit: 30d, 12h, 90m')
  .transform(durationMs)
  .optional()

const settings = z.object({
  PORT: z.coerce
    .number(portRule)
    .int(portRule)
    .min(0, portRule)
    .max(65_535, portRule)
    .default(47_334)
    .describe('TCP port; 0 lets the system choose'),
  HOST: z.string().min(1).default('127.0.0.1').describe('address to listen on'),
  DATA_DIR: z.string().min(1).default('./data').describe('where everything is kept; no * ? [ = in it'),
  LOG_URL: z
    .string()
    .refine(isPostgresUrl, postgresUrlRule)
    .optional()
    .describe(
      'PostgreSQL that orders the log of several nodes: postgres://user:password@host/database, where several hosts (a:5432,b:5432) are a server and its standbys; VAULT_KEY and HEAD_KEY must be given, too. Without it the log is a file of this node alone',
    ),
  READS: z
    .enum(['newest', 'local'])
    .default('newest')
    .describe(
      'with LOG_URL, newest: a request waits until its node has everything that any node acknowledged before; local: it only sees the data of its node',
    ),
  BLOBS_URL: z
    .string()
    .min(1)
    .optional()
    .describe(
      'where nodes that share a log keep contents, if not in PostgreSQL: s3://bucket/prefix at AWS, with ?endpoint=https://host:port for another server, and &region=name if it needs one',
    ),
  BLOB_CACHE_MAX: z
    .string()
    .refine((text) => sizeBytes(text) >= limits.blobCacheMinBytes, 'must be a size of at least 1MiB: 500MiB, 20GiB, 2TiB')
    .default(`${limits.blobCacheMaxBytes / 2 ** 30}GiB`)
    .describe('contents that a node keeps in its data directory when nodes share a store; those used longest ago go first'),
  AWS_ACCESS_KEY_ID: z.string().min(1).optional().describe('the key for BLOBS_URL'),
  AWS_SECRET_ACCESS_KEY: z.string().min(1).optional().describe('its secret'),
  AWS_SESSION_TOKEN: z.string().min(1).optional().describe('the token of that key, if the key is temporary'),
  AUTH: z.enum(['none', 'session']).default('none').describe('session: clients log in first'),
  AUTH_USERNAME: z.string().min(1).default('mindledger').describe('the user that may log in'),
  AUTH_PASSWORD: z.string().min(1).optional().describe('required when AUTH=session'),
  VAULT_KEY: keyHex.optional().describe('master key of secrets, recorded predictions and answers; without it a file in DATA_DIR holds one'),
  NEW_VAULT_KEY: keyHex.optional().describe('the master key that follows VAULT_KEY, for mindledger rotate-key'),
  HEAD_KEY: keyHex.optional().describe('seed of the key that signs heads (Ed25519); without it a file in DATA_DIR holds one'),
  HEAD_FILE: z.string().min(1).optional().describe('file that the service appends signed heads to; best on another machine’s disk'),
  HEAD_INTERVAL: z
    .string()
    .refine(
      (text) => durationMs(text) >= limits.headIntervalMinMs && durationMs(text) <= limits.headIntervalMaxMs,
      'must be a time from 1s to 20d: 90s, 15m, 1h, 1d',
    )
    .default('1h')
    .describe('how often a head is appended to HEAD_FILE, when the log has grown'),
  EXPORT_DIR: z
    .string()
    .min(1)
    .refine((text) => !text.startsWith('s3://'), 'must be a folder; set EXPORT_URL for a bucket')
    .optional()
    .describe(
      'folder where the service writes the history as Parquet files, a range of positions at a time; all nodes share it; no * ? [ in it',
    ),
  EXPORT_URL: z
    .string()
    .startsWith('s3://', 'must be s3://bucket/prefix?endpoint=https://host:port&region=name')
    .optional()
    .describe('bucket for these files instead of a folder, with an address as in BLOBS_URL: s3://bucket/prefix'),
  EXPORT_INTERVAL: z
    .string()
    .refine(
      (text) => durationMs(text) >= limits.exportIntervalMinMs && durationMs(text) <= limits.exportIntervalMaxMs,
      'must be a time from 1s to 20d: 90s, 15m, 1h, 1d',
    )
    .default('1m')
    .describe('how often it checks for a finished range, and repeats a failed try'),
  EXPORT_RANGE: z.coerce
    .number(rangeRule)
    .int(rangeRule)
    .min(limits.exportRangeMinPositions, rangeRule)
    .max(limits.exportRangeMaxPositions, rangeRule)
    .default(limits.archiveRangePositions)
    .describe('positions in each file of a new export; an export that has begun keeps its number'),
  ALLOWED_HOSTS: z
    .string()
    .transform((list) => list.split(',').map((entry) => entry.trim().toLowerCase()))
    .refine(
      (entries) => entries.every((entry) => hostEntry.test(entry)),
      'must be host names, comma separated: app.example,app.example:8080',
    )
    .optional()
    .describe('more host names that requests may be addressed to, and that web pages which write may come from; comma separated'),
  TRUST_PROXY: z
    .string()
    .transform(proxiesOf)
    .refine(
      (proxies) => typeof proxies === 'number' || proxies.every(isNetwork),
      'must be addresses or networks, comma separated (loopback, 10.0.0.0/8), or the number of proxies in a row, 1 to 9',
    )
    .optional()
    .describe(
      'proxies whose X-Forwarded-For, -Proto and -Host are believed: addresses and networks, comma separated (loopback, 10.0.0.0/8), or the number of proxies in a row. Without it none is believed',
    ),
  EGRESS_ALLOW: z
    .string()
    .default('')
    .describe(
      'addresses that the service may call besides public ones: names, addresses and networks with ports, comma separated (db.corp:5432, *.corp, 10.0.0.0/8, [fd00::/8]:5432-5440). Programs on this machine may be called without an entry where HOST is loopback and TRUST_PROXY is not set',
    ),
  ...languageModelSettings,
  AGENT_TOKENS_PER_DAY: tokens(limits.agentDayMaxTokens)
    .default(limits.agentDayMaxTokens)
    .describe('tokens that each agent may use in a day (UTC), unless its tokens_per_day says fewer'),
  PROJECT_TOKENS_PER_DAY: tokens(limits.projectDayMaxTokens)
    .optional()
    .describe(
      'tokens that each project as a whole may use in a day (UTC): answers of agents, judges, searches in knowledge bases, vectors of inserts. Without it only the limit of each agent holds',
    ),
  RECORD_QUERIES: z
    .enum(['all', 'trainings'])
    .default('all')
    .describe(
      'which queries to connected databases are recorded as events: all, or only those of trainings and skills, and statements that may write',
    ),
  CONNECTION_FILES: z
    .string()
    .min(1)
    .optional()
    .describe('folder whose files connections of the engines sqlite, duckdb and parquet may read; without it they read none'),
  DEFAULT_PROJECT: resourceName.default('mindsdb').describe('the project of statements that name none; existing clients assume mindsdb'),
  PREDICTION_RETENTION: retention.describe(
    'how long rows of predictions are kept, as 30d or 12h; older ones are erased. Without it they stay',
  ),
  ANSWER_RETENTION: retention.describe(
    'how long the answers of agents are kept, with their questions, prompts and rows, and the words of searches in knowledge bases, as 30d or 12h; older ones are erased. Without it they stay',
  ),
  MCP_WRITE: z.enum(['true', 'false']).default('false').describe('true: clients of MCP may run SQL that writes; otherwise they only read'),
  METRICS: z
    .enum(['login', 'open'])
    .default('login')
    .describe('with AUTH=session, open: GET /metrics needs no login, as a scraper has none'),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('least severe line that is logged'),
})

/** The keys of a bucket. */
export type S3Keys = { accessKeyId: string; secretAccessKey: string; sessionToken: string | undefined }

export type Config = {
  port: number
  host: string
  dataDirectory: string
  /** The address of the PostgreSQL database that orders the log, with its password. */
  logUrl: string | undefined
  /** Whether requests use only the data of this node, without waiting for other nodes. */
  readsLocally: boolean
  /** The value of BLOBS_URL for `readS3` of src/files/shared, and the keys of the bucket. */
  blobsUrl: string | undefined
  blobKeys: S3Keys | undefined
  /** How many bytes of blobs a node keeps in its data directory when nodes share a store. */
  blobCacheMaxBytes: number
  auth: { username: string; password: string } | undefined
  /** The given master keys; empty when a file in the data directory has the key. */
  masterKeys: readonly Buffer[]
  newMasterKey: Buffer | undefined
  /** The seed of the key that signs heads. */
  headKey: Buffer | undefined
  /** The file to which heads are appended, and the interval. */
  headFile: { path: string; intervalMs: number } | undefined
  /** The destination of Parquet files, a folder or a bucket with its keys; the interval, and the number of positions in each file. */
  exports: { place: string; keys: S3Keys | undefined; intervalMs: number; rangePositions: number } | undefined
  /** In lower case: `app.example`, or with a port `app.example:8080`. */
  allowedHosts: readonly string[]
  trustedProxies: TrustedProxies
  /** The value of EGRESS_ALLOW for `parseEgress` of src/egress. */
  egressAllow: string
  /** The settings for language models in the environment, by the names of their providers. */
  modelAccess: ModelAccess
  /** The daily tokens of each agent. */
  agentTokensPerDay: number
  /** The daily tokens of each project, for all purposes; tokens are not counted without it. */
  projectTokensPerDay: number | undefined
  /** Whether every query to a connected database is recorded, and not only the queries of trainings. */
  recordsAllQueries: boolean
  /** The folder whose files connections may read. */
  connectionFiles: string | undefined
  defaultProject: string
  predictionRetentionMs: number | undefined
  answerRetentionMs: number | undefined
  openMetrics: boolean
  /** Whether clients of MCP may run SQL that writes. */
  mcpWrites: boolean
  logLevel: string
  /** The value of each setting, without secrets. */
  settings: readonly VisibleSetting[]
}

/** Whether only programs on this machine can reach this address. */
export const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || host.startsWith('127.')

/** Whether only programs on this machine use the service: a proxy on this machine brings clients from elsewhere. */
export const isOnlyLocal = ({ host, trustedProxies }: Pick<Config, 'host' | 'trustedProxies'>): boolean =>
  isLoopback(host) && trustedProxies === false

/** Name, meaning and default of every setting, for the docs and the help text. */
export const settingDescriptions = Object.entries(settings.shape).map(([name, schema]) => ({
  name,
  about: schema.description ?? '',
  default: schema.safeParse(undefined).data,
}))

/** A setting for display. The value of a secret is `******`; null means that the setting has no value. */
export type VisibleSetting = { name: string; value: string | null; is_default: boolean; about: string }

/** Settings that consist only of a secret. */
const isSecret = (name: string): boolean => /(?:_KEY|_KEY_ID|_PASSWORD|_TOKEN)$/.test(name)

/**
 * An address without its password and its parameters, which may be secret, once for each of its hosts; another value unchanged. An address
 * that cannot be read is hidden.
 */
const withoutPassword = (text: string): string => {
  if (!text.includes('://')) return text
  const addresses = addressesIn(text)
  if (!addresses.every(isClear)) return mask
  return addresses.map((address) => `${new URL(address).protocol}//${placeIn(address)}`).join(', ')
}

const settingsShown = (given: Record<string, string | undefined>): VisibleSetting[] =>
  settingDescriptions.map(({ name, about, default: byDefault }) => {
    const said = given[name]
    const value = said ?? (byDefault === undefined ? null : String(byDefault))
    const shown = value === null ? null : isSecret(name) ? mask : withoutPassword(value)
    return { name, value: shown, is_default: said === undefined, about }
  })

/**
 * Reads the settings from the environment.
 *
 * @example readConfig({ PORT: '8080' }).port // 8080
 * @throws ConfigError that names the variable
 */
export const readConfig = (environment: Record<string, string | undefined>): Config => {
  // An empty variable counts as unset, because compose files and unit files pass unset variables as empty ones.
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''))
  const parsed = settings.safeParse(given)
  if (!parsed.success) throw new ConfigError(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '))
  const s = parsed.data
  if (s.AUTH === 'session' && s.AUTH_PASSWORD === undefined) throw new ConfigError('AUTH_PASSWORD: must be set when AUTH=session')
  for (const key of ['VAULT_KEY', 'HEAD_KEY'] as const)
    if (s.LOG_URL !== undefined && s[key] === undefined)
      throw new ConfigError(`${key}: must be set when LOG_URL is, the same for all nodes (openssl rand -hex 32)`)
  if (s.EXPORT_DIR !== undefined && s.EXPORT_URL !== undefined)
    throw new ConfigError('EXPORT_URL: names another place than EXPORT_DIR; set only one of them')
  const exportPlace = s.EXPORT_URL ?? (s.EXPORT_DIR === undefined ? undefined : resolve(s.EXPORT_DIR))
  const blobKeys =
    s.AWS_ACCESS_KEY_ID === undefined || s.AWS_SECRET_ACCESS_KEY === undefined
      ? undefined
      : { accessKeyId: s.AWS_ACCESS_KEY_ID, secretAccessKey: s.AWS_SECRET_ACCESS_KEY, sessionToken: s.AWS_SESSION_TOKEN }
  return {
    port: s.PORT,
    host: s.HOST,
    dataDirectory: resolve(s.DATA_DIR),
    logUrl: s.LOG_URL,
    readsLocally: s.READS === 'local',
    blobsUrl: s.BLOBS_URL,
    blobKeys,
    blobCacheMaxBytes: sizeBytes(s.BLOB_CACHE_MAX),
    auth: s.AUTH === 'session' && s.AUTH_PASSWORD !== undefined ? { username: s.AUTH_USERNAME, password: s.AUTH_PASSWORD } : undefined,
    masterKeys: s.VAULT_KEY === undefined ? [] : [Buffer.from(s.VAULT_KEY, 'hex')],
    newMasterKey: s.NEW_VAULT_KEY === undefined ? undefined : Buffer.from(s.NEW_VAULT_KEY, 'hex'),
    headKey: s.HEAD_KEY === undefined ? undefined : Buffer.from(s.HEAD_KEY, 'hex'),
    headFile: s.HEAD_FILE === undefined ? undefined : { path: resolve(s.HEAD_FILE), intervalMs: durationMs(s.HEAD_INTERVAL) },
    exports:
      exportPlace === undefined
        ? undefined
        : { place: exportPlace, keys: blobKeys, intervalMs: durationMs(s.EXPORT_INTERVAL), rangePositions: s.EXPORT_RANGE },
    allowedHosts: s.ALLOWED_HOSTS ?? [],
    trustedProxies: s.TRUST_PROXY ?? false,
    egressAllow: s.EGRESS_ALLOW,
    modelAccess: readModelAccess(s),
    agentTokensPerDay: s.AGENT_TOKENS_PER_DAY,
    projectTokensPerDay: s.PROJECT_TOKENS_PER_DAY,
    recordsAllQueries: s.RECORD_QUERIES === 'all',
    connectionFiles: s.CONNECTION_FILES === undefined ? undefined : resolve(s.CONNECTION_FILES),
    defaultProject: s.DEFAULT_PROJECT,
    predictionRetentionMs: s.PREDICTION_RETENTION,
    answerRetentionMs: s.ANSWER_RETENTION,
    openMetrics: s.METRICS === 'open',
    mcpWrites: s.MCP_WRITE === 'true',
    logLevel: s.LOG_LEVEL,
    settings: settingsShown(given),
  }
}
