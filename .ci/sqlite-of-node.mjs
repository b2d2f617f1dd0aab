// Runs after `npm ci` in a clone. The lockfile has the release of better-sqlite3 that runs on Node 20. On Node 24 that release ends the
// process when a statement is collected; from Node 22 on, a clone takes the release that an installation of the package takes there.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const wanted = '13.2.0'
const [major = 0] = process.versions.node.split('.').map(Number)
const { version } = JSON.parse(readFileSync('node_modules/better-sqlite3/package.json', 'utf8'))

if (major >= 22 && !version.startsWith('13.'))
  // The npm that runs this script, not another one on the path.
  execFileSync(process.execPath, [process.env.npm_execpath, 'install', '--no-save', '--ignore-scripts', `better-sqlite3@${wanted}`], {
    stdio: 'inherit',
  })
