import assert from 'node:assert/strict'
import { type SpawnOptions, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { test } from 'node:test'
import { packagePath } from '../../src/store/open.js'
import { runCairnOk } from '../support/cairn.js'
import { post } from '../support/serving.js'
import { temporaryDirectory } from '../support/temporary.js'

const FULL = '/dev/full'
const SKIP = existsSync(FULL) ? false : `no ${FULL} on this system`

/** What stands behind a standard stream: read by the test, a full disk, or a pipe whose reader has gone. */
type Behind = 'read' | 'full' | 'closed'
interface Streams {
  stdout?: Behind
  stderr?: Behind
}

/** Starts `cairn` on the streams. `written` has what was read of both. */
function start(args: readonly string[], behind: Streams) {
  const full = openSync(FULL, 'w')
  const { stdout = 'read', stderr = 'read' } = behind
  const stdio: SpawnOptions['stdio'] = ['ignore', ...[stdout, stderr].map((each) => (each === 'full' ? full : 'pipe'))]
  const child = spawn(process.execPath, [packagePath('dist/cli/main.js'), ...args], { stdio })
  closeSync(full)
  const written = { stdout: '', stderr: '' }
  for (const [name, each] of [['stdout', stdout] as const, ['stderr', stderr] as const]) {
    if (each === 'closed') child[name]!.destroy()
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      written[name] += text
    })
  }
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  return { child, written, ended }
}

async function run(args: readonly string[], behind: Streams) {
  const { written, ended } = start(args, behind)
  return { code: await ended, ...written }
}

const BLOCK_NUMBER = { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }
const REASON = 'standard output could not be written: ENOSPC: no space left on device, write'

test('commands and servers survive standard streams that cannot be written, and say what was lost', {
  skip: SKIP,
}, async (t) => {
  const datadir = temporaryDirectory(t)
  const cairn = (command: string, behind: Streams) => run([...command.split(' '), '--datadir', datadir], behind)
  const fixture = packagePath('fixtures/chain')

  await t.test('work that is done ends with 0, with its summary on standard error', async () => {
    const imported = await cairn(`import ${fixture}`, { stdout: 'full' })
    assert.equal(imported.code, 0, imported.stderr)
    assert.match(imported.stderr, new RegExp(`^cairn: ${REASON}; \\d+ blocks imported.*\n`, 'm'))
    const again = await cairn(`import ${fixture}`, { stderr: 'full' })
    assert.equal(again.code, 0)
    assert.match(again.stdout, /^0 blocks imported/)
    assert.equal((await cairn('migrate', { stdout: 'closed', stderr: 'closed' })).code, 0)
  })

  await t.test('a result that is lost is a failure, in one line; a reader may go', async () => {
    const at = ['--datadir', datadir]
    const commands = [
      ['status', ...at],
      ['keys', 'list', ...at],
      ['help', 'serve'],
      ['export', 'blocks', '--format', 'csv', '--out', '-', ...at],
      ['sql', 'SELECT 1', ...at],
    ]
    const lost = await Promise.all(commands.map((args) => run(args, { stdout: 'full' })))
    for (const [i, { code, stderr }] of lost.entries()) {
      const own = stderr.replace(/^.*Z export.*\n/gm, '') // its progress
      assert.deepEqual([code, own], [1, `cairn: ${REASON}\n`], commands[i].join(' '))
    }
    for (const closed of ['stdout', 'stderr']) {
      const { code, stderr } = await cairn('status', { [closed]: 'closed' })
      assert.deepEqual([code, stderr], [0, ''])
    }
  })

  await t.test('a key that was never shown is not stored', async () => {
    for (const stdout of ['full', 'closed'] as const) {
      const { code, stderr } = await cairn('keys create lost', { stdout })
      assert.equal(code, 1)
      assert.match(stderr, /\ncairn: standard output could not be written: (ENOSPC|EPIPE): .*\n$/)
    }
    const { code, stdout } = await cairn('keys create seen', { stderr: 'full' })
    assert.equal(code, 0)
    assert.match(stdout, /^[0-9a-f]{32}\n$/)
    const listed = JSON.parse(await runCairnOk(['keys', 'list', '--json', '--datadir', datadir]))
    assert.deepEqual(
      listed.map(({ name }: { name: string }) => name),
      ['seen'],
    )
  })

  await t.test('a server answers on when its log cannot be written', async () => {
    const args = ['serve', '--port', '0', '--open', '--metrics-port', '0', '--datadir', datadir]
    for (const stderr of ['full', 'closed'] as const) {
      const { child, written, ended } = start([...args, '--scan-threads', '1', '--evm-threads', '1'], { stderr })
      try {
        await new Promise<void>((resolve, reject) => {
          child.stdout!.on('data', () => written.stdout.endsWith('\n') && resolve())
          ended.then((code) => reject(new Error(`ended with ${code}`)))
        })
        const url = /^ready (\S+)\n$/.exec(written.stdout)![1]
        for (let i = 0; i < 3; i++) assert.match((await post(url, BLOCK_NUMBER)).text, /0x/)
      } finally {
        child.kill('SIGTERM')
      }
      assert.equal(await ended, 0)
    }
  })
})
