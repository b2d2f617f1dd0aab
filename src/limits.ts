/** Every limit of the service, unit last. docs/limits.md has a line for each; a test holds the two together. */
export const limits = {
  // Requests
  bodyMaxBytes: 10 * 1024 * 1024,
  nameMaxChars: 255,
  jsonMaxDepth: 64,
  // The log
  eventMaxBytes: 4 * 1024 * 1024,
  queueMaxCommands: 10_000,
  batchMaxCommands: 1_000,
  payloadMaxBytes: 16 * 1024 * 1024,
  // SQL
  statementMaxChars: 1_000_000,
  sqlTimeoutMs: 60_000,
  sqlMemoryMaxBytes: 2 * 1024 * 1024 * 1024,
  sqlQueueMaxQueries: 256,
  sqlConcurrentMaxQueries: 8,
  resultMaxRows: 10_000_000,
  resultMaxBytes: 4 * 1024 * 1024 * 1024,
  sqlTreeMaxDepth: 1_500,
  viewMaxDepth: 16,
  modelInsideMaxRows: 20_000,
  modelHeldMaxBytes: 16 * 1024 * 1024,
  followerIntervalMs: 500,
  followerBatchEvents: 1_000,
  // Files
  fileMaxBytes: 1024 * 1024 * 1024,
  fileMaxColumns: 4_096,
  fileIngestTimeoutMs: 300_000,
  fileIngestMemoryMaxBytes: 2 * 1024 * 1024 * 1024,
  // Models
  predictMaxRows: 10_000,
  trainingMaxRows: 1_000_000,
  trainingMaxColumns: 2_000,
  trainingMaxCells: 100_000_000,
  trainingMaxClasses: 256,
  trainingTimeoutMs: 3_600_000,
  modelMaxVersions: 1_000,
  loadedModelsMax: 32,
} as const

export type LimitName = keyof typeof limits
