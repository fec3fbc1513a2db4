import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { packagePath } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { FEW_THREADS, runCairn } from '../support/cairn.js'
import { HEAD } from '../support/chains/fixtureChain.js'
import { post, request } from '../support/serving.js'
import { temporaryDirectory } from '../support/temporary.js'

const MAIN = packagePath('dist/cli/main.js')
const FIXTURE = packagePath('fixtures/chain')

interface Outcome {
  code: number
  stdout: string
  stderr: string
}

/** Runs `cairn` to its end. */
function cairn(args: string[], env: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...args], { env: { ...process.env, ...env } }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr })
    })
  })
}

/** Starts `cairn serve` and waits for its line; the process is ended with the test. */
async function serve(t: TestContext, args: string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [MAIN, 'serve', '--port', '0', ...args], { env: { ...process.env, ...env } })
  t.after(() => void child.kill('SIGKILL'))
  const output = { stdout: '', stderr: '' }
  child.stderr.setEncoding('utf8').on('data', (text) => {
    output.stderr += text
  })
  await new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output.stdout += text
      if (output.stdout.endsWith('\n')) resolve()
    })
    child.on('exit', (code) => reject(new Error(`exited with ${code}: ${output.stderr}`)))
  })
  const url = /^ready (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(output.stdout)?.[1]
  assert.ok(url, `printed ${output.stdout}`)
  return { child, url, output }
}

async function stop(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
  const exited = once(child, 'exit')
  child.kill(signal)
  const [code] = await exited
  return code
}

test('help and version go to standard output', async () => {
  const [version, spelled, help, command] = await Promise.all([
    cairn(['--version']),
    cairn(['version']),
    cairn(['--help']),
    cairn(['help', 'serve']),
  ])
  assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/)
  assert.deepEqual(spelled, version)
  assert.match(help.stdout, /Usage: cairn COMMAND/)
  assert.match(command.stdout, /--rate-limit RPS/)
  assert.deepEqual([version.code, help.code, command.code], [0, 0, 0])
  assert.equal((await cairn(['serve', '--help'])).stdout, command.stdout)
})

test('wrong use is said in one line, with exit code 2', async (t) => {
  const datadir = temporaryDirectory(t)
  const busy = createServer().listen(0, '127.0.0.1')
  t.after(() => busy.close())
  await once(busy, 'listening')
  const { port } = busy.address() as { port: number }
  openForWriting(join(datadir, 'empty')).close()
  mkdirSync(join(datadir, 'text'))
  writeFileSync(
    join(datadir, 'text', 'cairn.db'),
    'a text that is long enough to be taken for the header of a database',
  )
  writeFileSync(join(datadir, 'genesis'), '{"config":{}}')
  const cases: [string[], RegExp][] = [
    [['nonsense'], /unknown command 'nonsense'; see 'cairn help'/],
    [['imprt'], /unknown command 'imprt' \(did you mean import\?\); see/],
    [['version', 'x'], /unexpected operand 'x'/],
    [['help', 'nonsense'], /unknown command/],
    [['serve', '--nonsense'], /unknown option --nonsense/],
    [['serve', 'operand'], /unexpected operand 'operand'/],
    [['serve', '--datadir', datadir, '--fork', 'osaka=1'], /--fork of 'cairn serve' needs --upstream or --fixture/],
    [['serve', '--datadir', datadir], /no database at .*cairn import/],
    [['status', '--datadir', datadir], /no database at/],
    [['serve', '--fixture', datadir], /nothing to import; expected genesis\.json/],
    [['serve', '--datadir', join(datadir, 'empty'), '--port', String(port)], /port \d+ is in use/],
    [['serve', '--fixture', join(datadir, 'none')], /--fixture: no such directory: /],
    [['import', '--datadir', datadir], /expected files or a directory to import/],
    [['import', '--datadir', datadir, join(datadir, 'none.rlp')], /no such file or directory/],
    [['status', '--datadir', join(datadir, 'text')], /is not an SQLite database; choose another --datadir/],
    [['import', '--datadir', join(datadir, 'text/cairn.db'), FIXTURE], /expected a directory, it is a file/],
    [
      ['import', '--datadir', join(datadir, 'x'), join(FIXTURE, 'genesis.json')],
      /is a genesis, not blocks; name it with/,
    ],
    [
      ['import', '--datadir', join(datadir, 'x'), '--genesis', join(datadir, 'genesis'), FIXTURE],
      /--genesis \S+: gasLimit: expected a non-negative integer, got nothing/,
    ],
    [['import', '--datadir', datadir, datadir], /nothing to import; expected genesis\.json/],
    [['keys', '--datadir', datadir], /expected 'create NAME'/],
    [['keys', 'lst', '--datadir', datadir], /expected 'create NAME', .*, got 'lst' \(did you mean list\?\)/],
    [['keys', 'list', '--datadir', datadir], /no database at/],
    [['keys', 'revoke', 'x', '--datadir', datadir], /no database at/],
    [['keys', 'revoke', '7', '--datadir', join(datadir, 'empty')], /no key with id or name '7'; see 'cairn keys list'/],
    [['keys', 'revoke', '--datadir', datadir], /keys revoke: expected the name or id of a key/],
    [
      ['keys', 'create', ' ', '--datadir', datadir],
      /keys create: expected a name of 1 to 100 printable characters, got " "/,
    ],
  ]
  for (const [args, words] of cases) {
    const { code, stdout, stderr } = await runCairn(args)
    assert.equal(code, 2, `${args.join(' ')}: ${stderr}`)
    assert.equal(stdout, '')
    assert.match(stderr, words)
    assert.equal(stderr.trim().split('\n').length, 1, stderr)
  }
  assert.equal((await cairn([])).code, 2)
})

test('a file that is no chain is refused, with no database made of it', async (t) => {
  const datadir = temporaryDirectory(t)
  const path = join(datadir, 'noise.rlp')
  writeFileSync(path, 'this is no chain')
  const { code, stderr } = await runCairn(['import', '--datadir', join(datadir, 'db'), '--network', 'sepolia', path])
  assert.notEqual(code, 0)
  assert.equal(stderr.trim().split('\n').length, 1, stderr)
})

test('a fixture is imported, served to all, and nothing is left of it', async (t) => {
  const folder = temporaryDirectory(t)
  const { child, url, output } = await serve(t, ['--fixture', FIXTURE], { TMPDIR: folder })
  assert.equal(readdirSync(folder).length, 1)
  const { json } = await post(`${url}/v3/x`, request('eth_getBlockByNumber', 'latest', false))
  const { number, hash } = json.result as { number: string; hash: string }
  const health = (await (await fetch(`${url}/health`)).json()) as { head: unknown }
  assert.deepEqual(health.head, { number: Number(number), hash })
  const sent = { to: `0x${'00'.repeat(19)}04`, data: '0x1234' } // the identity precompile
  assert.equal((await post(url, request('eth_call', sent, 'latest'))).json.result, '0x1234')
  assert.equal(await stop(child), 0)
  assert.deepEqual(readdirSync(folder), [])
  assert.equal(output.stdout, `ready ${url}\n`)
})

test('import, status, keys and serve work on one directory', async (t) => {
  const datadir = join(temporaryDirectory(t), 'data')
  const files = ['chain.rlp', 'l2.ndjson'].map((name) => join(FIXTURE, name)).filter((path) => existsSync(path))
  const args = ['import', '--datadir', datadir, '--genesis', join(FIXTURE, 'genesis.json'), ...files]
  const first = await cairn(args)
  assert.equal(first.code, 0, first.stderr)
  assert.match(first.stdout, /^[1-9]\d* blocks imported/)
  assert.match((await runCairn(args)).stdout, /^0 blocks imported, [1-9]\d* stored already/)

  const status = JSON.parse((await runCairn(['status', '--json'], { CAIRN_DATADIR: datadir })).stdout)
  assert.equal(status.coverage.first, 0)
  assert.equal(status.state.mode, 'execute')
  assert.ok(status.tables.find(({ table }: { table: string }) => table === 'transactions').rows > 0)
  assert.deepEqual(status.crypto, { keccak256: 'wasm', secp256k1: 'native' })
  const { stdout } = await runCairn(['status', '--datadir', datadir])
  assert.match(stdout, /^head +\d+ 0x[0-9a-f]{64}/m)
  assert.match(stdout, /^crypto +keccak256 wasm, secp256k1 native$/m)

  const unreachable = await serve(t, ['--datadir', datadir], FEW_THREADS)
  assert.match(unreachable.output.stderr, /cairn keys create NAME/)
  const made = await runCairn(['keys', 'create', 'mine', '--datadir', datadir])
  const key = made.stdout.trim()
  assert.match(key, /^[0-9a-f]{32}$/)
  const ask = async () => (await post(`${unreachable.url}/v3/${key}`, request('eth_blockNumber'))).status
  assert.equal(await ask(), 200)
  assert.match((await runCairn(['keys', 'list', '--datadir', datadir])).stdout, /^1 {3}mine {2}\S+Z {2}-$/m)
  assert.equal((await runCairn(['keys', 'revoke', '1', '--datadir', datadir])).code, 0)
  assert.equal(await ask(), 401)
  assert.equal(await stop(unreachable.child, 'SIGINT'), 0)
})

test('a server without blocks says so, and serves those that are imported while it runs', async (t) => {
  const datadir = temporaryDirectory(t)
  assert.equal((await runCairn(['keys', 'create', 'mine', '--datadir', datadir])).code, 0)
  const { url, output } = await serve(t, ['--datadir', datadir, '--open'], FEW_THREADS)
  assert.match(output.stderr, /^there are no blocks yet: import some with 'cairn import'; they are served at once$/m)
  assert.equal((await runCairn(['import', '--datadir', datadir, FIXTURE])).code, 0)
  assert.equal((await post(url, request('eth_blockNumber'))).json.result, `0x${HEAD.toString(16)}`)
  assert.equal((await post(url, request('eth_chainId'))).json.result, '0x4f25')
  const sent = { to: `0x${'00'.repeat(19)}04`, data: '0x1234' } // the identity precompile
  assert.equal((await post(url, request('eth_call', sent, 'latest'))).json.result, '0x1234')
})
