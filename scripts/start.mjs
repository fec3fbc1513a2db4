// `npm start`: from a fresh clone to a served chain. Installs, builds, imports the fixture chain into ./data and makes an
// API key the first time, then serves. The key is kept in data/start-key, readable by its owner only, so that the next
// start can show it again: the database holds only its hash. Delete that file to get a new key.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensureBuilt, ensureInstalled, ROOT, run } from './ensure.mjs'

const CAIRN = join(ROOT, 'dist', 'cli', 'main.js')
const datadir = process.env.CAIRN_DATADIR ?? join(ROOT, 'data')
const keyFile = join(datadir, 'start-key')
const importedFile = join(datadir, 'start-imported')

ensureInstalled()
ensureBuilt()
if (!existsSync(importedFile)) importFixture()
const key = existsSync(keyFile) ? readFileSync(keyFile, 'utf8').trim() : createKey()
serve()

function importFixture() {
  const folder = join(ROOT, 'fixtures', 'chain')
  const genesis = join(folder, 'genesis.json')
  const files = ['chain.rlp', 'l2.ndjson'].map((name) => join(folder, name)).filter((path) => existsSync(path))
  // Left to itself when the operator has imported a chain of their own.
  if (!existsSync(join(datadir, 'cairn.db'))) {
    run(process.execPath, [CAIRN, 'import', '--datadir', datadir, '--genesis', genesis, ...files])
  }
  writeFileSync(importedFile, '')
}

function createKey() {
  const args = [CAIRN, 'keys', 'create', 'start', '--datadir', datadir]
  const result = spawnSync(process.execPath, args, { cwd: ROOT, stdio: [0, 'pipe', 'ignore'], encoding: 'utf8' })
  if (result.status !== 0) {
    console.error('could not create an API key')
    process.exit(1)
  }
  const made = result.stdout.trim()
  writeFileSync(keyFile, `${made}\n`, { mode: 0o600 })
  return made
}

function serve() {
  const args = [CAIRN, 'serve', '--datadir', datadir, ...process.argv.slice(2)]
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['inherit', 'pipe', 'inherit'] })
  let line = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    line += text
    const ready = /^ready (\S+)\n/.exec(line)
    if (ready === null) return
    line = ''
    show(ready[1])
  })
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === null ? 1 : 0)
  })
  // A terminal sends its signals to both processes; one that is sent to this one alone is passed on.
  for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => child.kill(name))
}

function show(url) {
  console.log(`Cairn answers at ${url}/v3/${key}
WebSocket        ${url.replace('http', 'ws')}/ws/v3/${key}

Try:
  curl -s ${url}/v3/${key} -H 'Content-Type: application/json' \\
    -d '{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":["latest",false]}'

Stop with Ctrl-C.`)
}
