import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { packagePath } from '../../src/store/open.js'
import { serveFixture, spawnProgram } from '../support/cairn.js'
import { HEAD } from '../support/chains/fixtureChain.js'
import { temporaryDirectory } from '../support/temporary.js'

/* `cairn sync` on a real pseudo terminal, which Python's standard library makes. */

const HAS_PYTHON = spawnSync('python3', ['-c', 'import fcntl, termios']).status === 0
const skip = HAS_PYTHON ? false : 'needs python3 for a pseudo terminal'

const upstream = await serveFixture({ after })

async function syncOnTerminal(t: TestContext, ...options: string[]): Promise<string[]> {
  const program = [process.execPath, packagePath('dist/cli/main.js'), 'sync', '--datadir', temporaryDirectory(t)]
  const genesis = ['--genesis', packagePath('fixtures/chain/genesis.json')]
  const command = [...program, ...genesis, '--upstream', upstream.url, ...options]
  const args = [packagePath('test/support/terminal.py'), '100', '40', ...command]
  const python = spawnProgram('python3', args, { env: { REDRAWS: '5', UNTIL: `following, block ${HEAD},` } })
  const { stdout, stderr } = await python.ended
  const { written, code } = JSON.parse(stdout || JSON.stringify({ written: stderr })) as {
    written: string
    code: number
  }
  assert.equal(code, 0, written)
  const [before, ...redraws] = written.split('\r\x1b[K')
  assert.equal(before, '', 'nothing was written beside the line')
  return redraws.map((text) => text.replace('^C', '').split('\r\n')[0])
}

const isLogLine = (line: string) => typeof (JSON.parse(line) as { msg: unknown }).msg === 'string'

test('sync shows one line on a terminal, which follows its width, and writes its log to a file', {
  skip,
}, async (t) => {
  const file = join(temporaryDirectory(t), 'cairn.log')
  const lines = await syncOnTerminal(t, '--log-file', file, '--log-level', 'debug')
  for (const line of lines) {
    assert.match(line, /^((\[[#.]{20}\] )?\d+ % )?(starting|syncing|following|stopping)\b/)
    assert.ok(line.length < 100, line)
  }
  assert.match(lines.at(-1)!, new RegExp(`^following, block ${HEAD}, [\\d,.]+ blocks/s`))
  const narrow = lines.filter((line) => !line.startsWith('stopping')).slice(-4)
  for (const line of narrow) assert.ok(line.length < 40, line)
  const logged = readFileSync(file, 'utf8').trimEnd().split('\n')
  assert.ok(logged.length > 0 && logged.every(isLogLine))
})

test('without a log file, log lines on a terminal take the place of the line', { skip }, async (t) => {
  const lines = await syncOnTerminal(t, '--log-level', 'debug')
  const logged = lines.filter((line) => line.includes('{'))
  assert.ok(logged.length > 0 && logged.every(isLogLine), JSON.stringify(logged))
  assert.match(lines.at(-1)!, /^following, block /)
})
