import type { LimitName } from '../../src/basics/limits.js'

/** Says what each limit bounds, and what happens beyond it. The code does not compile if a limit has no line here. */
export const limitDescriptions: Record<LimitName, string> = {
  bodyMaxBytes: 'A request body with rows or a statement: predictions, outcomes, models, SQL. Beyond: 413 `too_large`.',
  bodyMaxValues: 'Values in such a body, including those of inner lists and objects. Beyond: 413 `too_large`, before it is parsed.',
  resourceBodyMaxBytes: 'The body of a request that writes a resource. Beyond: 413 `too_large`.',
  resourceBodyMaxValues: 'Values in such a body. Beyond: 413 `too_large`, before it is parsed.',
  smallBodyMaxBytes: 'The body of any other request, such as a login. Beyond: 413 `too_large`.',
  smallBodyMaxValues: 'Values in such a body. Beyond: 413 `too_large`, before it is parsed.',
  heldBodiesMaxBytes:
    'All bodies above `smallBodyMaxBytes` together whose requests have no answer yet, including those still arriving. Beyond: 503 `busy` with Retry-After.',
  heldBodiesPerClientMaxBytes:
    'Such bodies of one client: a login, or an address without one. Beyond: 503 `busy` with Retry-After. The service still accepts small bodies of this client and all bodies of other clients.',
  bodyMaxDepth: 'Levels of nesting in a whole body. Beyond: 400 `wrong_arguments`, before it is parsed.',
  objectMaxKeys: 'Keys of one object in a body. Beyond: 413 `too_large`, before it is parsed.',
  nameMaxChars: 'The name of a resource. Beyond: 400 `wrong_arguments`.',
  jsonMaxDepth: 'Levels of a JSON value in a body or in params. Beyond: 400 `wrong_arguments`.',
  agentMaxSkills: 'Skills of one agent, and skills that one request names. Beyond: 400 `wrong_arguments`.',
  listPageMaxItems:
    'Items in one page of a list: the most that `limit` may ask for. Beyond: 400 `wrong_arguments`; without `limit` a list has no end.',
  turnMaxMs: 'How long the work of one request may block other requests at a time. Beyond: other requests go first, then the work goes on.',
  secretsMaxPerCommand: 'Secrets that one request brings. Beyond: 400 `wrong_arguments`.',
  sessionLookMs:
    'With LOG_URL: how long a node trusts that a login is still valid. Beyond: it asks PostgreSQL whether the login ended at another node.',
  sessionAwayMaxMs:
    'With READS=local: how long a node accepts a login that it has seen as valid while PostgreSQL cannot be reached. Beyond: 503 `behind` until PostgreSQL is back.',
  sessionMaxAgeMs: 'A login. Beyond: 401 `unauthorized`; log in again.',
  connectionsMax:
    'Open connections. Beyond: the address with the most connections loses one that waits for its client, with no request or an incomplete one. If the service is answering on all of them: 503 `busy`.',
  connectionsPerAddressMax:
    'Open connections of one address (with IPv6, of one network of 64 bits); those of a proxy in TRUST_PROXY are not counted. It is below `connectionsMax`, so that one address cannot take all connections. It is high enough for a proxy that TRUST_PROXY does not name. Beyond: the same happens among the connections of this address.',
  requestHeadersTimeoutMs: 'Time to receive the headers of a request. Beyond: 408, and the connection is closed.',
  requestTimeoutMs: 'Time to receive a whole request, also an upload. Beyond: 408, and the connection is closed.',
  keepAliveTimeoutMs:
    'How long a connection may be idle. Beyond: the service closes it, and the client opens another one. Most proxies close an idle connection after 60 s. The proxy should be first: if the server closes first, it loses a request that the proxy sends at this moment.',
  stopTimeoutMs: 'How long a stop waits for answers under way. Beyond: their connections are closed.',
  startStopWaitMs: 'How long a stop waits for a start that is not over. Beyond: the process ends; the next start continues its work.',
  logLinesMaxChars:
    'Lines of the service’s own log that wait to be written, while its disk or reader is slow. Beyond: they are dropped and counted.',
  serverAddressWaitMs:
    'How long a command waits until the server of its data directory has written its address. Beyond: the command ends with status 2.',
  serverAnswerWaitMs:
    'How long a command waits for a short answer of the server, such as its state. Beyond: the command ends with status 2. Statements, reruns, erasures, downloads and the measuring of the disk are not counted.',
  sessionsMax:
    'Logins that are valid at the same time, at all nodes together. Beyond: the one used longest ago ends; with LOG_URL, the oldest one.',
  loginMaxFailuresPerMinute:
    'Failed logins from one address, or one /64 network of IPv6. Beyond: 429 `too_many_attempts` with Retry-After.',
  errorLineMaxChars:
    'The reason in an error message, which may repeat text of the request, and each other line. Beyond: the beginning and end.',
  errorMaxChars: 'All lines of an error message. Beyond: its beginning and end.',
  eventMaxBytes: 'The stored text of one event. Beyond: 413 `too_large`; nothing of the command is recorded.',
  appendMaxEvents: 'Events that a program appends to a stream of its own at once. Beyond: `too_large`, and none is appended.',
  appendMaxBytes: 'The data of these events together. Beyond: `too_large`, and none is appended.',
  queueMaxCommands: 'Commands that wait for the log. Beyond: 503 `busy` with Retry-After.',
  batchMaxCommands: 'Commands that share one commit. Beyond: the next commit takes them.',
  payloadMaxBytes:
    'The rows of predictions that are recorded together. Beyond: 413 `too_large`; the record of an answer or an evaluation has less of its rows and of its longest texts.',
  leaseMs:
    'Nodes with a shared log give work that is done once for all to one node. The limit says how long a silent node keeps this work.',
  leaseRenewIntervalMs: 'How often a node reports that it still does this work.',
  leaseMarginMs: 'A node that cannot report this stops its work this long before others can take it over.',
  leaseLookIntervalMs: 'How often a node checks whether it can take over work of another node.',
  taskFailuresMax: 'Failures in a row of work that one node does for all, such as an export. Beyond: another node may take it over.',
  taskRestMs: 'How long a node leaves such work to the others then. Beyond: it does it again, unless another node does.',
  reactionTriesMax:
    'How many times a reaction to an event may fail, for example to a message for a chatbot. Beyond: the event is set aside, and later events come.',
  reactionRetryMaxWaitMs:
    'The longest wait between two tries of an event. The first wait is a second, and each is twice as long as the one before.',
  reactionSetAsideMax:
    'How many events a reaction sets aside. Beyond: the next event that fails is tried until it succeeds, and later events wait.',
  reactionAgainMs: 'How often a reaction tries the events again that it set aside.',
  logProbeIntervalMs: 'After a failed write, how often readiness tries to write again. In between it reports the last failure.',
  diskUseMaxAgeMs: 'How old the figures of disk use may be. Beyond: the next request measures them again.',
  statesAtOnceMaxChars:
    'Text of the resources that a list reads in one step; a single resource may be longer. Beyond: other requests run before the next step.',
  stateCacheMaxChars: 'States of resources that are kept parsed. Beyond: the one used longest ago is read again.',
  linkCacheMaxIds:
    'Remembered references between resources, such as those of agents to a skill, counted in ids. Beyond: the references to the target used longest ago are read again.',
  rollbackMaxVersion:
    'The version that a rollback or a rerun reads, unless it is the newest: all events up to this version are folded at once. Beyond: 400 `wrong_arguments`.',
  treeCacheMaxTiles: 'Tiles of the log’s Merkle tree held in memory, 4 KiB each. Beyond: the one used longest ago is read again.',
  rotationBatchMaxPayloads:
    'Payloads whose keys one step of a rotation wraps again. Beyond: the next step takes the rest, after the commands that wait.',
  rotationBatchMaxBytes:
    'Ciphertext of the payloads in one step of a rotation. Beyond: the next step takes the rest, after the commands that wait.',
  noteMaxSignatures: 'Signatures under a signed head. Beyond: the text is not accepted as a head.',
  headFileReadMaxBytes:
    'The end of HEAD_FILE that is compared with the log before a node appends. Beyond: only `mindledger verify --head` compares earlier heads.',
  archiveRangePositions: 'Positions of the log in one Parquet file of an export. Beyond: the next file.',
  archiveMemoryBytes:
    'Memory of DuckDB while an export of Parquet files is written or checked. Beyond: it uses the disk, or the command fails.',
  archiveManifestMaxBytes: 'The manifest of an export of Parquet files. Beyond: the file is not accepted as a manifest.',
  archiveRangeManifestMaxBytes: 'The part of this manifest about one range. Beyond: the range counts as changed.',
  archiveCheckWaitMs:
    'How long `verify --parquet` waits for a running export to name all files in the manifest. Beyond: files that are not named are faults.',
  exportFreeMinBytes:
    'Free disk space that an export leaves when it writes to the disk of the data directory. Below: the export writes no range until there is room.',
  exportIntervalMinMs: 'The shortest EXPORT_INTERVAL. Below: the service does not start.',
  exportIntervalMaxMs: 'The longest EXPORT_INTERVAL. Beyond: the service does not start.',
  exportRangeMinPositions: 'The smallest EXPORT_RANGE. Below: the service does not start.',
  exportRangeMaxPositions: 'The largest EXPORT_RANGE. Beyond: the service does not start.',
  headIntervalMinMs: 'The shortest HEAD_INTERVAL. Below: the service does not start.',
  headIntervalMaxMs: 'The longest HEAD_INTERVAL. Beyond: the service does not start.',
  idempotencyMaxAgeMs: 'How long the answer to an Idempotency-Key is kept. Beyond: forgotten at the next search for old ones.',
  keptReplyMaxBytes:
    'A table that is kept as the answer to an Idempotency-Key. Beyond: it is sent but not kept, and a repeated request runs again.',
  forgottenAnswersPerBatchMax:
    'Old answers that are forgotten in one batch. Beyond: the next batch forgets more, and commands come in between.',
  answersForgetIntervalMs: 'Time between two searches for answers that are too old. The first one begins with the service.',
  sharedMaxHosts: 'Hosts in LOG_URL. Beyond: the setting is refused.',
  sharedHostsWaitMs:
    'How long a node waits for the other hosts of LOG_URL once one has answered. Beyond: it uses the one that was promoted last of those that answered.',
  sharedHostsLookMs:
    'How often a node asks all hosts of LOG_URL whether another one was promoted. Then it leaves the server that was replaced.',
  sharedConnectTimeoutMs: 'How long a connection to a host of LOG_URL and its login may take. Beyond: it counts as away.',
  sharedStatementTimeoutMs: 'How long PostgreSQL works on one statement of a node. Beyond: PostgreSQL cancels the statement.',
  sharedAnswerTimeoutMs:
    'How long a node waits for the answer to a statement. Beyond: the connection counts as lost, and another one is made.',
  sharedGoodbyeMs: 'How long a node that stops waits for the end of a connection to PostgreSQL. Beyond: the connection is cut.',
  sharedLockIdleTimeoutMs: 'How long a node may say nothing while it has the lock of the log. Beyond: PostgreSQL ends its session.',
  sharedPollIntervalMs: 'How often a node looks by itself for events of other nodes. Usually PostgreSQL tells it at once.',
  backupFollowWaitMs:
    'How long a backup of a node waits for the node to follow erasures of other nodes. Beyond: it ends with status 2, because the node is stopped or far behind.',
  sharedHaltMs:
    'After a gap of this length between its clocks, a node knows that it was halted. It then looks for events of other nodes before it answers.',
  sharedReconnectMaxMs: 'The longest wait after a failed connection; half of it is random. Until then the node makes no other attempt.',
  sharedWritePatienceMs:
    'How long a write waits for a PostgreSQL that is away (503 `storage_failed` beyond), and for a node that catches up (503 `behind`).',
  sharedReadPatienceMs:
    'How long a request waits until its node has all events that other nodes acknowledged before. Beyond: 503 `behind` with Retry-After.',
  sharedErasedRepliesMax:
    'Kept answers that an erasure looks through in one batch of a shared log. Beyond: the next batch looks through the rest.',
  sharedBatchMaxBytes: 'Bytes that the commands of one batch write together. Beyond: the next batch takes the rest.',
  sharedDeltaMaxBatches: 'Batches of other nodes that a node fetches at once. Beyond: it asks again.',
  sharedDeltaMaxBytes:
    'The bytes of these batches, and of their payloads that a later batch wrote again; a single batch may be larger. Beyond: it asks again.',
  sharedDeltaMaxEvents: 'The events of these batches; a single batch may have more. Beyond: it asks again.',
  sharedTurnMaxRows:
    'Events and other rows of these batches that a node adds to its file at a time. Beyond, or after `turnMaxMs`: other requests go first.',
  nodeLagMaxBatches: 'How many batches a node may be behind the others. Beyond: `GET /ready` is 503 until it has caught up.',
  nodeBeatMs: 'How often a node tells the others that it runs, its address, and its position in the log.',
  nodeDeadAfterMs: 'How long a node may be silent. Beyond: it counts as dead.',
  nodeForgottenAfterMs: 'How long a node that stopped or died is listed. Beyond: the nodes that run forget it.',
  erasureNodesWaitMs:
    'With a shared log: how long the answer to an erasure waits until all running nodes have erased the data from their files.',
  erasedMaxPerEvent: 'Payloads and blobs that one event erases. Beyond: the erasure is several events.',
  erasedMaxBytesPerEvent:
    'Bytes of payloads that one event overwrites. Beyond: the erasure is several events; a larger payload has its own.',
  erasureReasonMaxChars: 'The reason of an erasure. Beyond: 400 `wrong_arguments`.',
  erasurePurgeWaitMs: 'How long an erasure waits for answers under way. Beyond: they are cut off, and queries without an answer run again.',
  retentionIntervalMs: 'Time between two searches for rows that are older than `PREDICTION_RETENTION`.',
  clockLookMs: 'Time between two looks at the clock of the machine.',
  clockJumpMinMs:
    'How far the clock may differ from the time that the machine has been up. Beyond: it has jumped; see [A wrong clock](running.md#a-wrong-clock).',
  clockTrustMaxMs:
    'After a jump of the clock, the service waits as long as the jump is wide, but at most this long. Until then it does nothing that cannot be undone.',
  statementMaxChars: 'An SQL statement. Beyond: 400, before it is read.',
  statementMaxTokens: 'Words, numbers, texts and signs of an SQL statement. Beyond: 400 `bad_statement`; upload long lists as a file.',
  statementMaxParams: 'Values of `params` of a statement. Beyond: 400 `wrong_arguments`.',
  statementParamsMaxChars:
    'The values of `params` that a statement names. A value counts each time that the statement names it. Beyond: 400 `bad_statement`.',
  dropMaxNames: 'Views or tables that one DROP names. Beyond: `bad_statement`.',
  asOfMaxChars: 'The time in `as_of` of a context. Beyond: 400 `wrong_arguments`.',
  sqlTimeoutMs: 'A query, from the start of its execution. Beyond: it is ended with 400 `query_limit`.',
  sqlMemoryMaxBytes:
    'Memory of the SQL process. Beyond: it is restarted; the query that needed it gets 400 `query_limit`, the others run again.',
  sqlQueueMaxQueries: 'Queries that wait to run. Beyond: 503 `busy`.',
  sqlConcurrentMaxQueries: 'Queries that compute their first rows at the same time. Beyond: they wait.',
  sqlQuickMs:
    'Time to the first rows of a quick query. Beyond: the query counts as a long one; if no place for long queries is free, it stops, and begins again when there is one.',
  sqlLongMaxQueries:
    'Long queries that compute their first rows at the same time. Beyond: they wait. The other places are for quick queries.',
  sqlClientMaxPercent:
    'The share of each kind of places, and of the queue, for one client: a login, or an address without one. Beyond: its queries wait; beyond its share of the queue: 503 `busy`.',
  sqlWaitingMaxQueries:
    'Queries that give their places to others while they wait for a connected database, a knowledge base or a shared blob. Beyond: the next one keeps its place.',
  sqlStreamingMaxAnswers: 'Answers that clients read at the same time. Beyond: the next query waits until one answer is read.',
  sqlThreads: 'Threads that DuckDB shares among all queries.',
  sqlRetriesMax: 'Restarts of the SQL process after which one query is tried again. Beyond: 503 `analytics_unavailable`.',
  sqlCancelGraceMs: 'Time that a cancelled query has to stop. Beyond: the SQL process is restarted.',
  sqlAnswerMaxAgeMs: 'Time that a client has to read an answer. Beyond: it ends with an error, in CSV with a broken connection.',
  sqlStartWaitMs: 'Wait for the SQL process to be ready. Beyond: 503 `analytics_unavailable`.',
  sqlMemorySampleMs: 'Time between two looks at the memory of the SQL process.',
  sqlWalMaxBytes: "DuckDB's write-ahead log. Beyond: it is written into the database file.",
  resultMaxRows: 'Rows of one answer. Beyond: 400 `query_limit`.',
  resultMaxBytes: 'Bytes of one answer. Beyond: 400 `query_limit`.',
  sqlTreeMaxDepth: 'Levels of a parsed statement. Beyond: 400, before it is run.',
  sqlPivotMaxValues: 'Values that a PIVOT without a list may find. Each value becomes a column. Beyond: 400; list them with IN.',
  viewsDescribedMax: 'Views whose columns information_schema.columns lists; the columns of later views are missing there.',
  viewMaxDepth: 'Levels of views that read views. Beyond: 400; a view that reads itself ends here, too.',
  modelInsideMaxRows: 'Rows that a model scores inside the query. Beyond: the query runs again with its rows scored beforehand.',
  modelInsideMaxCalls:
    'Times that a query may ask a model inside it; repeated rows count again. Beyond: the query runs again with its rows scored beforehand.',
  modelHeldMaxBytes:
    'An answer that waits until it is known that its models score few rows. Beyond: the query runs again with its rows scored beforehand.',
  followerIntervalMs: 'Wait of the projector for new events, when no query asks for them.',
  followerBatchEvents: 'Events that are projected or read together. Beyond: the next batch takes them.',
  tablesCheckIntervalMs:
    'Time between two checks of all tables: each must show all rows that were added to it. Each new batch is also checked at once. If a check fails, the process opens the tables again.',
  sqlPingIntervalMs: 'Time between two pings to the process that answers SQL.',
  sqlSilentMaxPings:
    'How many pings in a row may have no answer. Beyond: readiness reports it, and the service replaces the process if it runs no query.',
  fileMaxBytes: 'An uploaded file. Beyond: 413 `too_large`.',
  blobsLookMs: 'Time between two checks that the blobs of files and models exist.',
  blobChunkBytes: 'The size of the parts in which nodes store a blob in PostgreSQL. At most one part is in memory at once.',
  blobConnectionsMax: 'Connections of a node to PostgreSQL for blobs, besides those for the log. Beyond: statements wait.',
  blobPatienceMs: 'How long a node tries to reach the shared store of blobs. Beyond: 503 `storage_failed` with Retry-After.',
  blobAnswerTimeoutMs: 'Wait for an answer of S3, or for its next bytes. Beyond: it counts as away.',
  blobLeastBytesPerSecond:
    'The lowest speed at which S3 may take a blob. A request may take the time at this speed, plus `blobAnswerTimeoutMs`. Beyond: S3 counts as away.',
  blobAnswerMaxBytes: 'A page of names from S3. Beyond: the export ends with an error, and is tried again.',
  blobCacheMaxBytes:
    'Blobs that a node keeps on its disk when nodes share a store, unless BLOB_CACHE_MAX says otherwise. Beyond: it removes the blobs used longest ago, except those that are being read.',
  blobCacheMinBytes: 'The smallest BLOB_CACHE_MAX. Below: the service does not start.',
  blobCacheFreeMinBytes:
    'Free disk space that these blobs leave. Below: the node removes the blobs used longest ago, and fetches none that would take more (507 `disk_full`).',
  blobCacheLookMs: 'How often a node checks the free disk space for this while nobody reads blobs.',
  blobUnnamedMaxAgeMs: 'Age of a blob in the shared store that no event names, or of an upload that was cut off. Beyond: it is removed.',
  blobCollectMs: 'Time between two searches of a node for such blobs and uploads.',
  fileUploadsMax: 'Uploads under way: being received, waiting, or being read. Beyond: 503 `busy` with Retry-After.',
  fileUploadsPerClientMax: 'The same for one client: a login, or an address without one. Beyond: 503 `busy` with Retry-After.',
  fileMaxColumns: 'Columns of a table. Beyond: 413 `too_large` for an upload, or the row counts as bad; 400 `query_limit` for a statement.',
  fileIngestTimeoutMs: 'Time to read an uploaded file. Beyond: the upload ends with an error.',
  fileIngestMemoryMaxBytes: 'Memory of the process that reads an uploaded file. Beyond: the upload ends with an error.',
  fileIngestConcurrentMax: 'Uploaded files that the service reads at the same time. Beyond: they wait.',
  fileIngestDiskMaxBytes: 'Disk that DuckDB may use while it converts an uploaded file. Beyond: 413 `too_large`.',
  tableMaxRows:
    'Rows of a table, uploaded or written by a statement. Beyond: 413 `too_large` for an upload, 400 `query_limit` for a statement; the table stays as it was.',
  tableMaxCells:
    'Cells of a table; each element of a list is one. Beyond: 413 `too_large` for an upload, 400 `query_limit` for a statement; the table stays as it was.',
  tableMaxTextBytes:
    'All texts of a table together, not compressed. Beyond: 413 `too_large` for an upload, 400 `query_limit` for a statement; the table stays as it was.',
  tableMaxBytes: 'A table as Parquet. Beyond: 413 `too_large` for an upload, 400 `query_limit` for a statement; the table stays as it was.',
  insertRetriesMax:
    'How often an INSERT, or a CREATE OR REPLACE from the rows of the table itself, is tried again because the table changed meanwhile. Beyond: 412 `version_mismatch`.',
  formFieldsMax: 'Fields of an upload form. Beyond: 400 `wrong_arguments`.',
  formFieldMaxBytes: 'One field of an upload form. Beyond: 413 `too_large`.',
  fileRowMaxBytes: 'One row of an uploaded file. Beyond: 413 `too_large`, or the row counts as bad.',
  fileBadRowsReportedMax: 'Bad rows of an uploaded file that are shown. Beyond: they are counted.',
  fileWarningsMax: 'Warnings about an uploaded file. Beyond: they are left out.',
  predictMaxRows: 'Rows of one request for predictions. Beyond: 400 `wrong_arguments`; score larger tables in SQL.',
  predictMaxExplainedChars:
    'Characters of all classes in the explanations (`…_explain`) of one request for predictions. Beyond: 413 `too_large`; send fewer rows at a time.',
  trainingBodyMaxRows: 'Rows to learn from that come with a CREATE MODEL statement. Beyond: 400 `wrong_arguments`; upload them as a file.',
  trainingCheckTimeoutMs:
    'Time to find the columns of a training’s query before the service accepts it. Beyond: the service accepts the query unchecked, and a fault in it appears as an error of the training.',
  trainingMinRows: 'The fewest rows with a value of the target that a model learns from. Below: the training ends with status error.',
  explainMaxRows: 'Rows of one request for predictions with contributions. Beyond: 400 `wrong_arguments`.',
  outcomesMaxRowsRead:
    'Predictions in the events that hold those of one report of outcomes: all are read to find the reported ones. Beyond: 400 `wrong_arguments`.',
  outcomesMaxRows: 'True values in one report of outcomes. Beyond: 400 `wrong_arguments`.',
  trainingMaxRows: 'Rows of a training query. Beyond: the training ends with status error.',
  trainingMaxColumns: 'Columns of a training query. Beyond: the training ends with status error.',
  trainingMaxCells: 'Rows times columns of a training query. Beyond: the training ends with status error.',
  trainingMaxClassBytes: 'The different values of such a target together, as text. Beyond: the training ends with status error.',
  trainingMaxClasses: 'Different values of a target that is a category. Beyond: the training ends with status error.',
  trainingTimeoutMs: 'Time of the training process, without the time to read its rows. Beyond: the training ends with status error.',
  trainingProgressToldMs: 'How often a node tells the others the progress of its training.',
  trainingProgressHeardMs: 'How long a node shows the progress that another node reported for a training.',
  trainingReadTimeoutMs:
    'Time to read the rows of a training, with every wait for the SQL process; `sqlTimeoutMs` and `sqlAnswerMaxAgeMs` do not count there. Beyond: the training ends with status error.',
  trainingErasuresMax:
    'How often a training begins again because data that it had read was erased. Beyond: the training ends with status error.',
  confusionMaxPairs:
    'Pairs of a true class and a predicted class that the report of a training keeps. Beyond: it leaves out the rarest pairs.',
  confusionMaxBytes: 'These pairs together, as JSON: classes may have long texts. Beyond: the report leaves out the rarest pairs.',
  dataChecksMax:
    'Checks of training data (`GET …/models/m/data_check`) that run or wait at once; they run one after the other. Beyond: 503 `busy`.',
  forecastMaxGroups: 'Series of one model. Beyond: the training fails with `query_limit`; make several models.',
  forecastMaxKeys: 'Columns that tell the series of a model apart. Beyond: 400 `wrong_arguments`.',
  forecastMaxHorizon: 'Steps ahead that a model of series forecasts. Beyond: 400 `wrong_arguments`.',
  forecastMaxRows: 'Series of one model times its horizon. Beyond: the training fails with `wrong_arguments`.',
  forecastMaxPoints: 'Steps of a series that a training uses. Beyond: it uses the last ones, and a warning says so.',
  modelMaxVersions: 'Versions of one model. Beyond: 413 `too_large`; drop some that are no longer needed.',
  loadedModelsMax:
    'Model versions that are held in memory. Beyond: the version used longest ago leaves memory, and is loaded again when a request needs it.',
  onnxMaxBytes: 'An ONNX file. Beyond: 413 `too_large` where it is uploaded.',
  onnxMaxNodes: 'Operators of an imported model, including those in its loops and branches. Beyond: the import ends with status error.',
  onnxBatchMaxRows: 'Rows per call of an imported model that takes a fixed number of rows. Beyond: the import ends with status error.',
  onnxLoadTimeoutMs: 'Time to load an imported model, or a tokenizer. Beyond: its process is ended with 400 `query_limit`.',
  onnxRunTimeoutMs:
    'Time of one call of an imported model, for at most 256 rows or one batch, or of its tokenizer for one text. Beyond: its process is ended with 400 `query_limit`; the next call starts another.',
  onnxMemoryMaxBytes: 'Memory of the process of an imported model. Beyond: it is ended with 400 `query_limit`.',
  onnxProcessesMax:
    'Processes of imported models, counted separately for the server and for the SQL process. Beyond: the process used longest ago ends if it is idle.',
  onnxQueueMaxCalls: 'Calls that wait for one imported model. Beyond: 503 `busy` with Retry-After.',
  onnxIdleMaxMs: 'How long the process of an imported model waits for another call. Beyond: it ends; the next call starts another.',
  egressConnectTimeoutMs: 'Time to connect to another service over HTTP, with TLS. Beyond: `connection_failed`.',
  egressHeadersTimeoutMs:
    'Time from a call of another service over HTTP to the first line of its answer. Some callers have their own limit. Beyond: `connection_failed`.',
  egressStallTimeoutMs: 'Time between two parts of the answer of another service. Beyond: the connection is closed, `connection_failed`.',
  egressAnswerMaxBytes: 'Bytes of the answer of another service, before and after unpacking. Beyond: it is closed, `connection_failed`.',
  egressConnectionsMax: 'Open connections to one address of another service. Beyond: a call waits for one.',
  egressOriginsMax: 'Other services whose connections are kept. Beyond: those of the service used longest ago are closed.',
  egressLookupsMax:
    'Names of hosts that a process looks up at the same time; equal names share one lookup. Beyond: 503 `busy`. A name without an answer keeps its place until the resolver of the system gives up.',
  egressLookupFailureMaxAgeMs: 'How long a failed lookup of a name is remembered. Beyond: the name is looked up again.',
  llmConcurrentMax: 'Exchanges with the language models at one address at once. Beyond: they wait.',
  llmQueueMax: 'Exchanges that wait for their turn at one address. Beyond: 503 `busy` with Retry-After.',
  llmQueueWaitMs: 'How long an exchange waits for its turn. Beyond: 503 `busy` with Retry-After.',
  llmHeadersTimeoutMs:
    'Time from the request to a language model to the first line of its answer; some providers load the model first. Beyond: `llm_failed`.',
  llmStallTimeoutMs:
    'Time between two parts of the answer of a language model, also before its first token, and while it thinks without a word. Beyond: the connection is closed, `llm_failed`.',
  llmAnswerTimeoutMs:
    'Time of one answer of a language model, with its retries; the `timeout` of an agent may be shorter. Beyond: `llm_failed`.',
  llmAnswerMaxBytes: 'Bytes of one answer of a language model or an embedder, as it is sent. Beyond: it is closed, `llm_failed`.',
  llmToolCallsMax: 'Calls of tools in one answer of a language model. Beyond: `llm_failed`.',
  llmThoughtsMaxChars:
    'Characters of what a language model thought before it called tools, which some providers want back. Beyond: none of these thoughts are sent back.',
  llmRetriesMax: 'Times that a request is sent again after 429 or 5xx. Beyond: `llm_failed`.',
  llmRetryWaitMs: 'Wait before the first of these retries if the provider names no time. It doubles for each next one.',
  llmRetryMaxWaitMs: 'The longest of these waits, if the provider names no time.',
  llmRetryAfterMaxMs:
    'The longest Retry-After of a provider for which the service waits. Beyond: `llm_failed` at once, with that Retry-After.',
  llmErrorMaxChars: 'Characters of a provider’s error message that the service repeats. Beyond: the message is cut.',
  llmRememberedMax:
    'Models whose refused parameters the service remembers. Beyond: it forgets the model used longest ago and tries all parameters again.',
  llmReportedMaxTokens:
    'Tokens that a provider may report for what one call read, or for what it wrote. Beyond: the number counts as unknown, and an estimate takes its place.',
  embeddingBatchMaxTexts: 'Texts in one request to an embedder. Beyond: the service sends several requests.',
  embeddingBatchMaxChars: 'Characters of these texts. Beyond: the service sends several requests. A longer text is one request alone.',
  embeddingMaxDimensions: 'Numbers of one vector of an embedder. Beyond: `llm_failed`.',
  connectionConnectTimeoutMs: 'Time to connect to a connected database, with TLS and the login. Beyond: `connection_failed`.',
  connectionFirstRowTimeoutMs: 'Time until the first row of a connected database. Beyond: the statement is cancelled there, `query_limit`.',
  connectionStallTimeoutMs: 'Time between two parts of the rows of a connected database. Beyond: the connection is closed, `query_limit`.',
  connectionStatementTimeoutMs:
    'Time of one statement in a connected database, until its last row. Beyond: it is cancelled there, `query_limit`.',
  connectionMaxRows: 'Rows that one statement reads from a connected database. Beyond: it is cancelled there, `query_limit`.',
  connectionMaxBytes:
    'Bytes of the values that one statement reads from a connected database. Beyond: it is cancelled there, `query_limit`.',
  connectionAnswerMaxColumns:
    'Columns of the answer to one statement in a connected database. Beyond: it is cancelled there, `query_limit`.',
  connectionAppendMaxBytes:
    'Bytes of rows of a connected database that wait outside of the memory of a query. Beyond: they are put into a table in this memory.',
  connectionReadMaxBytes:
    'Bytes that a connected database sends for one step of an answer. A step usually needs far fewer bytes. Beyond: the connection is closed, `query_limit`.',
  connectionsReadMaxBytes:
    'Bytes of all connected databases together that wait in the service, in steps that are not passed on yet. Beyond: the connection with the largest step is closed, `query_limit`.',
  connectionPoolMaxConnections:
    'Open connections to one connected database for statements; questions about its tables have one more. Beyond: a statement waits for one.',
  connectionPoolsMax:
    'Connected databases with open connections. Beyond: the connections of the database used longest ago are closed if they are idle; else 503 `busy`.',
  connectionQueueMaxRequests: 'Statements that wait for a connection to one database. Beyond: 503 `busy`.',
  connectionQueueWaitMs:
    'Time that a statement waits for a free connection to a database, or a request to a file for a free process. Beyond: 503 `busy`.',
  connectionIdleMaxMs: 'How long a connection to a database may be idle. Beyond: it is closed.',
  connectionCancelWaitMs: 'Time that a cancelled statement has to end in its database. Beyond: the connection is closed.',
  connectionTicketMaxAgeMs:
    'Time from the permission to read an answer of a connected database to the first read. Beyond: the permission is void.',
  connectionMetadataTimeoutMs:
    'Time of a request for the tables or columns of a connected database. Beyond: it is cancelled there, `query_limit`.',
  connectionMetadataMaxAgeMs: 'How long the tables and columns of a connected database are remembered. Beyond: they are asked for again.',
  connectionCommentMaxChars: 'Characters of a comment on a table or a column of a connected database. Beyond: the rest is left out.',
  connectionTablesMax: 'Tables of one connected database that are listed. Beyond: the rest is left out, and can still be read.',
  connectionJoinMaxTables:
    'Tables that a connected database joins and groups itself; MySQL joins no more. Beyond: the rows of each table are fetched, and joined here.',
  connectionColumnsMax:
    'Columns of all tables of one connected database that are listed together. Beyond: the rest is left out; name the table in WHERE.',
  connectionListedWaitMs:
    'Time that each connected database has to answer a query over information_schema that names no database. Beyond: its tables are missing.',
  connectionsListedAtOnce: 'Connected databases that are asked for their tables at the same time for one list; the others wait.',
  connectionSilentMaxAgeMs:
    'How long the service remembers that a connected database did not answer such a query. Beyond: it asks again. A query that names the database asks at once.',
  connectionProcessIdleMs:
    'How long the process that talks to connected databases may be idle. Beyond: it ends; the next request starts it again.',
  connectionRequestsMax: 'Requests to connected databases that are under way or wait for a process. Beyond: 503 `busy`.',
  connectionFileProcessesMax:
    'Requests under way to databases that are files. Each request has a process of its own. Beyond: a request waits for the end of another one (`connectionQueueWaitMs`).',
  connectionFileProcessMaxBytes: 'Memory of the process of one request to a file. Beyond: the process ends, and the request ends with it.',
  answerListedMaxChars: 'Characters of a question and of an answer in the list of answers; the answer itself has all of them.',
  answerCommentMaxChars: 'Characters of a comment on an answer. Beyond: 400 `wrong_arguments`.',
  agentQuestionsMax: 'Questions that one SQL statement may ask an agent. Beyond: 400 `query_limit`.',
  agentQuestionsAtOnce: 'Questions of one SQL statement that an agent answers at the same time; the others wait.',
  agentRoundsMax:
    'How many times in a row answers of agents may lead to further questions in one SQL statement, for example when views over agents read each other. Beyond: 400 `query_limit`.',
  agentRepliesMaxBytes:
    'The answers of agents in one SQL statement, with their questions and contexts. Beyond: 400 `query_limit`; the records in `log.answers` have them.',
  knowledgeChunkMinChars: 'The shortest chunks that the settings of a knowledge base may ask for. Below: 400 `wrong_arguments`.',
  knowledgeChunkMaxChars: 'The longest chunks that the settings of a knowledge base may ask for. Beyond: 400 `wrong_arguments`.',
  knowledgeMaxColumns:
    'Columns of content, or of metadata, in the settings of a knowledge base; beyond: 400 `wrong_arguments`. Also the columns that SQL shows of it; beyond: the rest is in `metadata`.',
  knowledgeIdMaxChars: 'The id of a document. Beyond: 400 `wrong_arguments`.',
  knowledgeMetadataMaxBytes: 'The metadata of a document as JSON text. Beyond: 400 `wrong_arguments` with the row.',
  knowledgeDocumentMaxBytes: 'The content of a document. Beyond: 413 `too_large` with the row.',
  knowledgeInsertMaxDocuments:
    'Documents of one insert. Beyond: 413 `too_large`. The documents of the batches before stay, and the answer says how many there are.',
  knowledgeBatchMaxDocuments: 'Documents of one event. Beyond: the next event takes them.',
  knowledgeBatchMaxBytes:
    'Contents and metadata of the documents of one event, if there is more than one. Beyond: the next event takes them.',
  knowledgeBatchVectorsMaxBytes: 'Vectors of one event. Beyond: the next event takes its documents; of one document: 413 `too_large`.',
  knowledgeMaxChunks: 'All chunks that a knowledge base ever had, also those of replaced documents. Beyond: 413 `too_large`.',
  knowledgeVectorsMaxBytes: 'Vectors of the chunks of a knowledge base. Beyond: 413 `too_large`.',
  knowledgeQueryMaxChars: 'The text of a search. Beyond: 400 `wrong_arguments`.',
  knowledgeQueryMaxWords: 'Different words of a search that count. Beyond: only the first ones count.',
  knowledgeUrlsMax: 'Web pages that one insert reads. Beyond: 400 `wrong_arguments`.',
  knowledgePageMaxBytes: 'Bytes of a web page, unpacked. Beyond: 502 `connection_failed`.',
  knowledgePageMaxElements: 'Elements of a web page, including those that HTML opens again by itself. Beyond: 400 `bad_file`.',
  knowledgePageTimeoutMs: 'Time to receive a whole web page. Beyond: 400 `bad_file`.',
  knowledgeRoundsMax: 'Requests to knowledge bases for one query, for their documents or for search results. Beyond: 400 `query_limit`.',
  knowledgeQueriesMax: 'Questions of one `content IN (…)`. Beyond: 400 `wrong_arguments`.',
  knowledgeEvaluateMaxQuestions: 'Questions of one EVALUATE KNOWLEDGE_BASE. Beyond: 400 `query_limit`.',
  knowledgeSearchMaxChunks: 'Chunks that a search returns. Beyond: 400 `wrong_arguments`; without LIMIT it returns ten.',
  knowledgeListMaxChunks:
    'Chunks that SQL reads from a knowledge base without a search, if it reads their texts or all of their metadata. Beyond: 400 `query_limit`.',
  knowledgeRerankMaxChunks:
    'Chunks in one request to a reranking model, and the smallest number of chunks that a search finds for it. Beyond: there is another request.',
  knowledgeRerankChunkMaxChars: 'Characters of a chunk that a reranking model reads. Beyond: it reads the first ones.',
  knowledgeRerankOutputMaxTokens:
    'Tokens that a reranking model may write for one request, its thoughts among them. Beyond: 502 `llm_failed`, because a score is missing.',
  knowledgeFilterMaxValues: 'Values of one condition on metadata. Beyond: 400 `wrong_arguments`.',
  knowledgeCallTimeoutMs:
    'Time of one step of the process that keeps the index: a search, or a batch of documents. Beyond: 503 `busy`; the process is ended, and the next call starts another one.',
  knowledgeQueueMaxCalls: 'Calls that wait for that process. Beyond: 503 `busy` with Retry-After.',
  knowledgeMemoryMaxBytes: 'Memory of that process. Beyond: it is ended, and the next call starts another one.',
  knowledgeOpenMaxBases: 'Knowledge bases that it keeps open. Beyond: it closes the one used longest ago.',
  knowledgeEmbedMaxTexts: 'Texts that an embedding model gets in one call. Beyond: the next call takes the rest.',
  rerunAnswersMax: 'Recorded answers that one request reruns. Beyond: 400 `wrong_arguments`.',
  rerunTimeoutMs:
    'Longest time for all reruns of one request, and for one EVALUATE AGENT. Fewer answers have less time: as long as one answer may take for each group of four, and once more. In a rerun that is `agentAnswerMaxTimeoutMs`, in EVALUATE AGENT the `timeout` of the agent, at least three minutes. With a judge it is twice as much. Beyond: the rest fails with `answer_timeout`. Erasures wait until the reruns end.',
  rerunQueryMaxChars: 'The query that names the answers to rerun. Beyond: 400 `wrong_arguments`.',
  evaluationCasesMax: 'Questions that one EVALUATE AGENT asks. Beyond: 400 `query_limit`.',
  evaluationJudgeOutputMaxTokens:
    'Tokens that a judge of EVALUATE AGENT may write for one answer, its thoughts among them. Beyond: the case has no score, and its note says so.',
  evaluationReasonMaxChars: 'The reason that a language model gives for its judgement; the rest is cut off.',
  jobsMax: 'Jobs of one project. Beyond: 413 `too_large`.',
  jobStatementsMax: 'Statements of one job. Beyond: 400 `wrong_arguments`.',
  jobIntervalMinMs: 'Time between two runs of a job, at least. Below: 400 `wrong_arguments`.',
  jobIntervalMaxMs: 'Time between two runs of a job, at most. Beyond: 400 `wrong_arguments`.',
  jobsRunningMax: 'Jobs that run at once. Beyond: they wait, and the job that is overdue longest runs first.',
  jobClockHoldMs: 'How long a job waits if a jump of the clock skipped its time. Meanwhile somebody can correct the clock.',
  jobRunTimeoutMs: 'Time of one run of a job. Beyond: it is stopped and ends with an error.',
  jobLastMaxChars: 'The length of a value that LAST stands for in a job. Beyond: the statement fails, and the error names the column.',
  jobErrorMaxChars: "The error of a job's run. Beyond: it is cut.",
  jobHistoryMaxRuns: 'Runs that `GET …/jobs/<job>/history` returns: the newest ones. All are in `log.job_runs`.',
  mcpDefaultRows: 'Rows or items in the answer of an MCP tool if the client names no number. Beyond: `truncated`, or `next`.',
  mcpMaxRows:
    'Rows or items that a client of MCP may ask a tool for, and databases listed as resources. Beyond: the tool refuses the number.',
  mcpAnswerMaxBytes:
    'The rows, items or fields in one answer of a tool, as JSON. Beyond: the first ones, with `truncated`, `next` or the names of the fields left out.',
  mcpSchemaMaxColumns: 'Columns of the schema of a database, as a resource of MCP. Beyond: the first ones, with `truncated`.',
  mcpPredictMaxRows: 'Rows of one call of the tool `predict`. Beyond: it refuses them; a JOIN with the model takes any number.',
  mcpBatchMaxMessages: 'Messages of one batch of MCP. Beyond: 413 `too_large`.',
  mcpQuestionMaxChars: 'A question to an agent over MCP. Beyond: the tool refuses it.',
  mcpHistoryMaxTurns: 'Earlier turns that a client sends with a question to an agent over MCP. Beyond: the tool refuses it.',
  mcpChunksMax: 'Chunks of one search in a knowledge base over MCP. Beyond: the tool refuses the number.',
  mcpFiltersMax: 'Conditions of such a search. Beyond: the tool refuses them.',
  mcpRelayMaxRequests: 'Messages that `mindledger mcp` relays at once. Beyond: the answer is an error.',
  messageMaxChars:
    'Characters of a message to a chatbot. Beyond: 413 `too_large`; a message from Slack or Telegram is cut, and its end says so to the agent.',
  chatbotNoticeMaxChars:
    'Characters of the notice that a message has no answer (the param `notice` of a chatbot). Beyond: the rest is cut.',
  messageTriesMax:
    'How many times a node tries to answer a message after faults of its own. Beyond: the message is marked as failed, and the next one of its conversation gets its turn.',
  messageMaxAgeMs:
    'How long a message waits for an answer, for example while the chatbot is stopped. Beyond: it is marked as failed, with the reason expired.',
  messageAnswerTimeoutMs: 'How long an agent may take for the answer to a message. Beyond: the message is marked as failed.',
  messageReplyWaitMs: 'How long a request waits for the answer to its message. Beyond: 202; the message is answered all the same.',
  messageFramesMaxChars:
    'Part of an answer that the service keeps for a client that reads a stream too slowly. Beyond: the stream ends with an error; the message still gets the whole answer.',
  conversationMaxWaiting: 'Messages of one conversation that wait for an answer. Beyond: 503 `busy` with Retry-After.',
  conversationHistoryMaxTurns:
    'Earlier turns of a conversation that an agent gets: the most that the param `history` of a chatbot can ask for.',
  conversationHistoryMaxChars: 'Characters of these turns. Beyond: the oldest are left out.',
  conversationPageMaxMessages: 'Messages of one page of a conversation. Beyond: the page ends, with a `next`.',
  chatbotMaxAnswers: 'Conversations that one chatbot answers at the same time. Beyond: they wait in turn.',
  chatbotsMaxAnswers: 'Conversations that all chatbots answer at the same time. Beyond: they wait, and chatbots take turns.',
  chatbotsMaxWaiting: 'Conversations that wait for an answer. Beyond: 503 `busy` with Retry-After.',
  webhookBodyMaxBytes: 'The body of a request to a webhook. Beyond: 413 `too_large`.',
  webhookBodyTimeoutMs: 'How long such a body may take to arrive. Beyond: 400 `wrong_arguments`.',
  webhookRequestsMax: 'Requests to webhooks that are read at once. Beyond: 503 `busy` with Retry-After.',
  webhookClockSkewMaxMs: 'How far the time in a signed request may be from that of this machine. Beyond: 401 `bad_signature`.',
  replyQueriesMaxBytes:
    'The queries of an answer that is posted to a `reply_url`, or in its `context` in SQL, as JSON. Beyond: rows are left out, from the first query on; the record has them.',
  deliveryTimeoutMs:
    'How long a chat service may take to accept an answer. Beyond: nobody knows whether it arrived; the message is marked as failed.',
  deliveryMaxAttempts:
    'How many times the service sends an answer to a chat service that does not accept it yet. Beyond: the message is marked as failed, with the reason unreachable.',
  deliveryRetryMaxWaitMs:
    'The longest wait between two attempts if the chat service names none. Also how long after the first message of a long answer the service tries again to send a later one.',
  deliveryRetryAfterMaxMs: 'The longest Retry-After of a chat service that is kept. Beyond: the answer is sent again after this time.',
  slackMessageMaxChars: 'Characters of an answer to Slack. Beyond: it is cut; the record has the whole.',
  telegramMessageMaxChars: 'Characters of one message to Telegram. Beyond: the answer goes out as several messages.',
  telegramAnswerMaxMessages: 'Messages of one answer to Telegram. Beyond: it is cut; the record has the whole.',
  eventProjectsMaxStreams: 'Streams whose project the service remembers. Beyond: it looks up the stream used longest ago again.',
  eventFilterMaxTypes: 'Types of events in one filter. Beyond: 400 `wrong_arguments`.',
  eventCursorMaxChars: 'A cursor of `GET /events`. Beyond: 400 `wrong_arguments`.',
  eventSliceMaxEvents:
    'Events that one step reads for a page, lines, a stream, an export or a walk over the log. Beyond: other requests run before the next step.',
  eventSliceMaxChars: 'Text of events that one step reads; a single event may be longer. Beyond: other requests run before the next step.',
  eventsPageMaxEvents: 'Events of one page. Beyond: 400 `wrong_arguments`.',
  eventsPageMaxChars: 'Text of one page of events; a single event may be longer. Beyond: the page ends, with a `next`.',
  eventsScanMaxEvents: 'Events that the filter of one page reads. Beyond: the page ends with the matches so far, and a `next`.',
  eventDownloadsMax: 'Answers with events as lines, also exports, that clients read at the same time. Beyond: 503 `busy` with Retry-After.',
  eventDownloadsPerClientMax: 'The same for one client: a login, or an address without one. Beyond: 503 `busy` with Retry-After.',
  eventStreamsMax: 'Clients of `GET /events/stream` at once. Beyond: 503 `busy` with Retry-After.',
  eventStreamsPerClientMax: 'The same for one client: a login, or an address without one. Beyond: 503 `busy` with Retry-After.',
  eventStreamHeartbeatMs: 'Time between two heartbeats of a stream of events.',
  eventStreamAwayMaxMs:
    'With LOG_URL and without READS=local: how long streams of events stay open at a node that cannot reach PostgreSQL. Beyond: they end, and clients connect again.',
  eventReaderStallMs:
    'How long a client of a stream, of lines or of a file may read nothing. Beyond: its connection is closed; the client may resume.',
  historyPageMaxChanges: 'Changes of one page of a history. Beyond: 400 `wrong_arguments`.',
  historyPageMaxChars: 'Text of one page of a history; a single change may be longer. Beyond: the page ends, with a `next`.',
  historyStatesMaxChars: 'Kept states from which the next page of a history continues. Beyond: the state used longest ago is folded again.',
  historyDiffMaxComparisons: 'Comparisons of values between two lists. Beyond: the difference shows the whole list as replaced.',
  agentNamesMax:
    'Names and patterns of tables, of models or of knowledge bases that the skills and data of one agent list. Beyond: only the first names are used. A list with more exclusions than this grants nothing. The prompt of the agent says so.',
  agentNamesReadAtOnce: 'Such names of one agent that the service resolves at the same time. Beyond: the others wait.',
  agentTablesMax: 'Tables that one agent may read, after its patterns are resolved. Beyond: the first ones; the prompt tells the agent.',
  agentModelsMax: 'Models that one agent may ask. Beyond: the first ones.',
  agentKnowledgeBasesMax: 'Knowledge bases that one agent may search. Beyond: the first ones.',
  agentTablesDescribedMax: 'Tables that a prompt describes. Beyond: the tables that fit the question best; the agent may ask for others.',
  agentTablesReadAtOnce: 'Tables of one connection that are read at a time for a prompt. Beyond: the next wait.',
  agentColumnsShownMax: 'Columns of one table that a prompt shows. Beyond: the first ones.',
  agentDescriptionMaxAgeMs: 'How long the description of a table is kept: its columns, values and first rows. Beyond: it is read again.',
  agentDescriptionsKept: 'Descriptions of tables that are kept. Beyond: the one used longest ago is read again.',
  agentTableWordsKept:
    'Kept words of table and column names, which find the right tables for a question. Beyond: the words used longest ago are read again.',
  agentSampleMaxRows: 'Rows that the service reads to describe a table. The prompt shows three of them.',
  agentSampleTimeoutMs:
    'Time to read these rows. Beyond: the prompt describes the table by its columns alone, and says that a query may take longer.',
  agentPromptTokens:
    'Tokens of a whole prompt, counted as a quarter of its characters, unless `max_prompt_tokens` of the agent says otherwise. Beyond: tables are only named, earlier messages are left out, results of tools are cut, and the prompt says so. If the rest does not fit, the answer fails.',
  agentPromptMaxTokens: 'The most that `max_prompt_tokens` of an agent may say. Beyond: this limit counts.',
  agentQuestionMaxChars: 'One message of a user to an agent; earlier answers may be longer. Beyond: 400 `wrong_arguments`.',
  agentHistoryMaxTurns:
    'Earlier messages of a conversation that a language model gets; `max_history` of an agent may say fewer. Beyond: the last ones.',
  agentHistoryMaxTokens: 'The same in tokens, counted as a quarter of their characters.',
  agentStepsMax:
    'Requests to a language model for one answer; `max_steps` of an agent may say fewer. The last request allows no use of a tool; if the model still wants one, the answer fails.',
  agentToolCallsMax: 'Uses of tools for one answer. Beyond: the language model gets an error.',
  agentSqlMaxCalls: 'Queries for one answer; `max_queries` of an agent may say fewer. Beyond: the language model gets an error.',
  agentRepairsMax:
    'Failed queries in a row; `max_repairs` of an agent may say fewer. The language model gets the error of each. Beyond: no further query runs.',
  agentQueryTimeoutMs: 'Time of one query of an agent. Beyond: it fails, and the language model gets an error.',
  agentQueryMaxRows:
    'Rows of one query that an answer carries; the service adds a LIMIT to the query. Beyond: the first ones, marked as cut.',
  agentQueryMaxBytes: 'Bytes of these rows. Beyond: the first ones, marked as cut.',
  agentShownMaxRows: 'Rows of one query that the language model sees. Beyond: the first ones, with their number.',
  agentToolOutputMaxChars:
    'Text of one use of a tool that the language model gets. Beyond: it is cut; of rows, predictions and tables the first ones, with the number of all.',
  agentResultMinChars:
    'Characters of the prompt that must be free for each result of a tool. With less room the tools are not run, and the language model must answer with what it has.',
  agentPredictMaxRows: 'Rows that one use of a model predicts. Beyond: the use fails.',
  agentSearchMaxChunks: 'Chunks of one search that the language model gets. Beyond: the most relevant ones.',
  agentOutputMaxTokens:
    'The largest `max_tokens` of an agent. Without `max_tokens`, a language model may write as much as its server allows; Anthropic gets this limit. This number of the day’s tokens is reserved, or the rest of the day’s tokens if fewer are left.',
  agentOutputMinTokens:
    'Tokens that the day must have left for the output of a language model; an agent with a smaller `max_tokens` needs only its `max_tokens`. Beyond: 429 `tokens_spent`.',
  agentOutputUnboundTokens:
    'Tokens that `max_answer_tokens` and the day must have left for a request without a limit of tokens. If fewer are left, the request has a limit: the rest, at most `agentOutputMaxTokens`.',
  agentOutputMaxChars:
    'Characters that a language model may write each time it is asked. Beyond: the answer, the search or the judgement fails.',
  agentAnswerTimeoutMs: 'Time of one answer of an agent without a `timeout` (seconds) of its own. Beyond: the answer fails.',
  agentAnswerMaxTimeoutMs: 'The longest `timeout` of an agent. Beyond: this limit counts.',
  agentRecordPatienceMs:
    'How long the service tries to record an answer of an agent, an evaluation or a search while the log takes no writes. Beyond: 503 `storage_failed`, and the answer is lost; the log of the service says so.',
  agentAnswerMaxTokens: 'Tokens of one answer, read and written; `max_answer_tokens` of an agent may say fewer. Beyond: the answer fails.',
  agentDayMaxTokens:
    'Tokens of one agent in a day (UTC), unless AGENT_TOKENS_PER_DAY or its own `tokens_per_day` says fewer. Beyond: 429 `tokens_spent` until the day ends.',
  projectDayMaxTokens: 'The most that PROJECT_TOKENS_PER_DAY may say. Beyond: the service does not start.',
  agentAnswersMax: 'Answers of agents under way. Beyond: 503 `busy` with Retry-After.',
  agentAnswersPerProjectMax: 'The same for all agents of one project. Beyond: 503 `busy` with Retry-After.',
  agentAnswersPerAgentMax: 'The same for one agent. Beyond: 503 `busy` with Retry-After.',
  importAnswerMaxBytes: 'One answer that `mindledger import` reads. Beyond: its items count as unread, and the import goes on.',
  importAnswerTimeoutMs:
    'How long `mindledger import` waits for one answer of the old service. Beyond: its items count as unread, and the import goes on.',
  importListMaxItems: 'Items of one list that `mindledger import` reads. Beyond: they count as unread, and the import goes on.',
  importPageRows:
    'Rows of a file that `mindledger import` asks the old service for at once; fewer after an answer that was too large or too late.',
}
