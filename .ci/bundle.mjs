// Makes the programs of the package: one file for each process or thread that Node starts, in dist/bin, beside the parts that they share.
// These files load in a third of the time that the single modules need. The modules that other programs import from the package (`main` and
// `log`) use the same parts. An installation does not need the packages that these files already contain.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { format, resolveConfig } from 'prettier'
import { build as buildWithComments } from 'vite'

const outdir = 'dist/bin'

/** Compiled libraries stay packages: a file of JavaScript cannot hold them. */
const external = ['@duckdb/node-bindings', 'better-sqlite3', 'onnxruntime-node', 'pg-native', 'pg-cloudflare']

/** Messages of zod are English here. Its fifty other languages would double its size in each process. */
const onlyEnglish = {
  name: 'only-english',
  setup: (of) =>
    of.onLoad({ filter: /zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({ contents: "export { default as en } from './en.js'" })),
}

rmSync(outdir, { recursive: true, force: true })
const shared = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  external,
  // Older packages among the dependencies ask for Node's own modules by require.
  banner: { js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);" },
  logLevel: 'warning',
  metafile: true,
  plugins: [onlyEnglish],
}
const parts = await build({
  ...shared,
  entryPoints: {
    mindledger: 'src/cli/main.ts',
    main: 'src/main.ts',
    log: 'src/log/index.ts',
    'ingest-process': 'src/files/ingest/ingest-process.ts',
    'train-process': 'src/models/training/train-process.ts',
    'pool-thread': 'src/models/engines/tabular/boosting/pool-thread.ts',
    'onnx-process': 'src/models/engines/onnx/onnx-process.ts',
    'knowledge-process': 'src/knowledge/index/index-process.ts',
    'export-process': 'src/archive/export-process.ts',
    'connections-process': 'src/connections/process/driver-process.ts',
    watchdog: 'src/setup/watchdog.ts',
    'semantic-check-worker': 'src/log/verify/semantic-check-worker.ts',
  },
  outdir,
  chunkNames: 'part-[hash]',
  splitting: true,
})

// No other process starts as often. It shares no parts, since one file loads faster than fifty.
const whole = await build({ ...shared, entryPoints: { 'sql-process': 'src/sql-process/process/process.ts' }, outdir })

// An auditor gets the verifier as one file and reads it. So the file keeps the comments and the layout of its modules.
const verifier = 'src/audit/verifier/verifier.ts'
const [about] = /^\/\*[^]*?\*\/\n/.exec(readFileSync(verifier, 'utf8'))
const { output } = await buildWithComments({
  ...{ configFile: false, logLevel: 'warn' },
  build: {
    ssr: verifier,
    write: false,
    minify: false,
    target: 'node20',
    rolldownOptions: { output: { banner: about, topLevelVar: false } },
  },
})
const laidOut = await format(output[0].code, { ...(await resolveConfig(verifier)), parser: 'babel' })
writeFileSync(join(outdir, 'verifier.js'), laidOut.replace(/^\/\/#.*\n/gm, ''))

// Tests start a process for SQL of their own about a hundred times.
if (existsSync('dist/test')) await build({ ...shared, entryPoints: ['test/support/sql-process/raw-process.ts'], outdir: 'dist/test/bin' })

/** The folder of the package from which a bundled file comes. */
const packageOf = (input) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0]

const licenseOf = (folder) => {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
  const text = file === undefined ? `License: ${license}` : readFileSync(join(folder, file), 'utf8').trim()
  return `${name} ${version}\n\n${text}\n`
}

const inputs = [parts, whole].flatMap(({ metafile }) => Object.keys(metafile.inputs))
const folders = [...new Set(inputs.map(packageOf))].filter((folder) => folder && existsSync(folder)).sort()
writeFileSync(join(outdir, 'LICENSES.txt'), folders.map(licenseOf).join(`\n${'-'.repeat(80)}\n\n`))
