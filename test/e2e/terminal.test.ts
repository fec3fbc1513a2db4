import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { packagePath } from '../../src/store/open.js'
import { spawnProgram } from '../support/cairn.js'
import { writeLongFile } from '../support/chains/blockFiles.js'
import { temporaryDirectory } from '../support/temporary.js'

/* Progress on a real pseudo terminal, which Python's standard library makes. */

const HAS_PYTHON = spawnSync('python3', ['-c', 'import fcntl, termios']).status === 0
const skip = HAS_PYTHON ? false : 'needs python3 for a pseudo terminal'

test('progress fits a terminal and its new size, and Ctrl-C ends an import with 130', { skip }, async (t) => {
  const genesis = packagePath('fixtures/chain/genesis.json')
  const program = [process.execPath, packagePath('dist/cli/main.js'), 'import', '--datadir', temporaryDirectory(t)]
  const command = [...program, '--genesis', genesis, writeLongFile(t), packagePath('fixtures/chain/chain.rlp')]
  const python = spawnProgram('python3', [packagePath('test/support/terminal.py'), '100', '50', ...command])
  const { stdout, stderr } = await python.ended
  const { written, code } = JSON.parse(stdout || JSON.stringify({ written: stderr })) as {
    written: string
    code: number
  }
  assert.equal(code, 130, written)
  const [before, ...redraws] = written.replace('^C', '').split('\r\x1b[K')
  assert.equal(before, '')
  const lines = redraws.map((text) => text.split('\r\n')[0])
  const notice = lines.indexOf('stopping after the batch under way; a second signal ends it at once')
  assert.ok(notice >= 29, written)
  lines.splice(notice, 1)
  for (const line of lines) assert.ok(line.length < 100, line)
  const narrow = lines.findIndex((line) => line.length < 50)
  assert.ok(narrow >= 10, `narrow from ${narrow} on: ${written}`)
  for (const line of lines.slice(narrow)) assert.ok(line.length < 50, line)
  assert.match(lines[9], /^\[[#.]{20}\] \d+ % long\.rlp\.gz \(1 of 2\), [\d,.]+ blocks\/s/)
  assert.match(lines.at(-1)!, /^[\d,]+ blocks in \d+/)
  assert.match(written, /\r\n1 blocks imported, \d+ stored already; interrupted at block 1 in long\.rlp\.gz/)
})
