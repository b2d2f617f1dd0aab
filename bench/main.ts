/** Side-by-side comparisons; each prints its ratio. `npm run bench` runs all, `npm run bench -- write read` some. */
const benches: Record<string, () => Promise<void>> = {
  write: async () => (await import('./write.js')).write(),
  read: async () => (await import('./read.js')).read(),
  predict: async () => (await import('./model/predict.js')).predict(),
  start: async () => (await import('./start.js')).start(),
  large: async () => (await import('./sql.js')).large(),
  small: async () => (await import('./sql.js')).smallest(),
  join: async () => (await import('./sql.js')).joined(),
  heavy: async () => (await import('./heavy.js')).heavyQueries(),
  scoring: async () => (await import('./model/scoring.js')).scoring(),
  'time-travel': async () => (await import('./time-travel.js')).timeTravel(),
  lists: async () => (await import('./lists.js')).lists(),
  replay: async () => (await import('./log/replay.js')).replay(),
  verify: async () => (await import('./log/audit.js')).verify(),
  proof: async () => (await import('./log/audit.js')).proof(),
  block: async () => (await import('./block.js')).block(),
  connections: async () => (await import('./connections.js')).connected(),
  agents: async () => (await import('./agents.js')).agents(),
  knowledge: async () => (await import('./knowledge.js')).knowledge(),
  console: async () => (await import('./console.js')).consoleTimes(),
  nodes: async () => (await import('./log/nodes.js')).nodes(),
  deliver: async () => (await import('./log/audit.js')).deliver(),
}

/** Benches that take many minutes. They run only by their name. */
const long: Record<string, () => Promise<void>> = {
  training: async () => (await import('./model/training.js')).trainings(),
}

/** Groups of benches that share a name. */
const groups: Record<string, readonly string[]> = { sql: ['large', 'small', 'join'], audit: ['verify', 'proof', 'deliver'] }

/** Benches that need files from outside this repository. The folder of the tables or of the model follows the name of the bench. */
const ofTables: Record<string, (...given: readonly string[]) => Promise<void>> = {
  accuracy: async (...given) => (await import('./accuracy/main.js')).accuracy(...given),
  model: async (...given) => (await import('./model/main.js')).model(...given),
  retrieval: async (...given) => (await import('./retrieval/main.js')).retrieval(...given),
}

const [first, ...rest] = process.argv.slice(2)
const ofTable = first === undefined ? undefined : ofTables[first]
await ofTable?.(...rest)
const given = first === undefined ? Object.keys(benches) : [first, ...rest].flatMap((name) => groups[name] ?? [name])
const wanted = ofTable ? [] : given
for (const name of wanted) {
  const bench = benches[name] ?? long[name]
  if (!bench) throw new Error(`there is no bench ${name}: ${Object.keys({ ...benches, ...long }).join(', ')}`)
  await bench()
}
