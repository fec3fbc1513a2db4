// `npm start`: from a fresh clone to a served chain. Installs, builds, imports the fixture chain into ./data and makes an
// API key the first time, then serves. The key is kept in data/start-key, readable by its owner only, so that the next
// start can show it again: the database holds only its hash. Delete that file to get a new key.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { exitCodeOf, passSignals } from './currentNode.mjs'
import { ensureBuilt, ensureInstalled, ROOT, run } from './ensure.mjs'

const CAIRN = join(ROOT, 'dist', 'cli', 'main.js')
const datadir = process.env.CAIRN_DATADIR ?? join(ROOT, 'data')
const keyFile = join(datadir, 'start-key')
// Says 'importing' or 'imported'. Where there is a database without it, the operator has imported a chain of their own.
const importFile = join(datadir, 'start-imported')
// A terminal is no place for log lines in JSON that say that all is well.
const env = { CAIRN_LOG_LEVEL: 'warn', ...process.env }

ensureInstalled()
ensureBuilt()
importFixture()
const key = existsSync(keyFile) ? readFileSync(keyFile, 'utf8').trim() : createKey()
serve()

/** Imports the bundled chain into a data directory without a chain, or goes on with an import that was interrupted. */
function importFixture() {
  const state = existsSync(importFile) ? readFileSync(importFile, 'utf8') : undefined
  if (state === undefined ? existsSync(join(datadir, 'cairn.db')) : state !== 'importing') return
  const folder = join(ROOT, 'fixtures', 'chain')
  const genesis = join(folder, 'genesis.json')
  const files = ['chain.rlp', 'l2.ndjson'].map((name) => join(folder, name)).filter((path) => existsSync(path))
  mkdirSync(datadir, { recursive: true, mode: 0o700 })
  writeFileSync(importFile, 'importing')
  run(process.execPath, [CAIRN, 'import', '--datadir', datadir, '--genesis', genesis, ...files], { env })
  writeFileSync(importFile, 'imported')
}

function createKey() {
  const args = [CAIRN, 'keys', 'create', 'start', '--datadir', datadir]
  const result = spawnSync(process.execPath, args, { cwd: ROOT, stdio: [0, 'pipe', 'pipe'], encoding: 'utf8', env })
  if (result.status !== 0) {
    console.error(`could not create an API key\n${result.stderr ?? ''}`)
    process.exit(1)
  }
  const made = result.stdout.trim()
  writeFileSync(keyFile, `${made}\n`, { mode: 0o600 })
  return made
}

function serve() {
  const args = [CAIRN, 'serve', '--datadir', datadir, '--stop-with-parent', ...process.argv.slice(2)]
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['inherit', 'pipe', 'inherit'], env })
  let line = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    line += text
    const ready = /^ready (\S+)\n/.exec(line)
    if (ready === null) return
    line = ''
    void show(ready[1])
  })
  passSignals(child)
  void exitCodeOf(child).then((code) => {
    process.exitCode = code
  })
}

/** The line with the page's address, if it is served. Browsers do not send the fragment, which has the key. */
async function describePage(url) {
  const { ok } = await fetch(`${url}/`).catch(() => ({ ok: false }))
  return ok ? `\n  page       ${url}/#key=${key}` : ''
}

async function show(url) {
  console.log(`
Cairn answers.${await describePage(url)}
  HTTP       ${url}/v3/${key}
  WebSocket  ${url.replace('http', 'ws')}/ws/v3/${key}
  API key    ${key}

Try:
  curl -s ${url}/v3/${key} -H 'Content-Type: application/json' \\
    -d '{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":["latest",false]}'

Stop with Ctrl-C.`)
}
