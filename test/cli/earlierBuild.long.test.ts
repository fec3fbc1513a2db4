import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import SqliteDatabase from 'better-sqlite3'
import { DATABASE_FILE, DatabaseOfEarlierBuild, openForReading } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { runCairn } from '../support/cairn.js'
import { markAsEarlierBuild } from '../support/chains/earlierBuild.js'
import { FIXTURE_FOLDER } from '../support/chains/fixture.js'
import { importFixture } from '../support/chains/fixtureDatabase.js'
import { temporaryDirectory } from '../support/temporary.js'

/* A database of an earlier build, with a write-ahead log that a killed process left. */

const datadir = temporaryDirectory({ after })
const PATH = join(datadir, DATABASE_FILE)
const inputs = temporaryDirectory({ after })
const input = (name: string) => join(inputs, name)
/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:1'

before(async () => {
  const made = temporaryDirectory({ after })
  await importFixture(made)
  markAsEarlierBuild(made, 20)
  const writer = new SqliteDatabase(join(made, DATABASE_FILE))
  writer.pragma('journal_mode = WAL')
  writer.exec("INSERT INTO topics (topic) VALUES (x'00')")
  for (const suffix of ['', '-wal']) copyFileSync(join(made, DATABASE_FILE + suffix), PATH + suffix)
  writer.close()
  writeFileSync(input('filter.json'), '{}')
  writeFileSync(input('abi.json'), JSON.stringify([{ type: 'event', name: 'E', inputs: [], anonymous: false }]))
  writeFileSync(input('keys.json'), '[]')
})

const COMMANDS: string[][] = [
  ['import', FIXTURE_FOLDER],
  ['sync', '--upstream', NOWHERE],
  ['sync', '--l2-upstream', NOWHERE],
  ['serve', '--port', '0'],
  ['serve', '--port', '0', '--upstream', NOWHERE],
  ['serve', '--port', '0', '--replica', NOWHERE],
  ['keys', 'create', 'alice'],
  ['keys', 'list'],
  ['keys', 'revoke', 'alice'],
  ['keys', 'import', input('keys.json')],
  ['abi', 'add', input('abi.json')],
  ['abi', 'list'],
  ['abi', 'remove', '1'],
  ['sql', 'SELECT 1'],
  ['status'],
  ['explain-logs', input('filter.json')],
  ['verify'],
  ['reindex'],
  ['rewind', '--to', '1'],
  ['backup', input('backup.db')],
  ['snapshot', 'create', input('store')],
  ['migrate'],
  ['export', 'blocks', '--format', 'csv', '--out', input('blocks.csv')],
]

const digests = () =>
  ['', '-wal'].map((suffix) =>
    createHash('sha256')
      .update(readFileSync(PATH + suffix))
      .digest('hex'),
  )

function requireRefusal({ code, stderr }: { code: number | null; stderr: string }, path: string): void {
  assert.equal(code, 2, stderr)
  const [line, ...more] = stderr.trimEnd().split('\n')
  assert.deepEqual(more, [])
  assert.equal(
    line,
    `cairn: ${path} was made by an earlier build of Cairn, and this build cannot migrate it; ` +
      'import the chain again into another --datadir, or use the build that made it',
  )
}

for (const [command, ...operands] of COMMANDS) {
  test(`refuses it unchanged: cairn ${command} ${operands.join(' ').replaceAll(inputs, '')}`, async () => {
    const before = digests()
    const made = readdirSync(inputs)
    requireRefusal(await runCairn([command, '--datadir', datadir, ...operands]), PATH)
    assert.deepEqual(digests(), before)
    assert.deepEqual(readdirSync(inputs), made)
  })
}

test('refuses a backup of it, and leaves no database', async (t) => {
  const into = temporaryDirectory(t)
  const made = temporaryDirectory(t)
  await importFixture(made)
  markAsEarlierBuild(made, 20)
  const backup = join(made, DATABASE_FILE)
  requireRefusal(await runCairn(['restore', '--datadir', into, backup]), backup)
  assert.deepEqual(readdirSync(into), [])
})

test('refuses it whatever number of migrations made it', (t) => {
  for (const count of [1, 2, 20]) {
    const folder = temporaryDirectory(t)
    openForWriting(folder).close()
    markAsEarlierBuild(folder, count)
    for (const open of [openForReading, openForWriting]) assert.throws(() => open(folder), DatabaseOfEarlierBuild)
  }
})
