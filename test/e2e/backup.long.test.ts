import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { backUp } from '../../src/store/backup.js'
import { DATABASE_FILE } from '../../src/store/open.js'
import { runCairn, runCairnOk, spawnCairn } from '../support/cairn.js'
import { HEAD } from '../support/chains/fixtureChain.js'
import { importFixture } from '../support/chains/fixtureDatabase.js'
import { fixtureBlockByBlock } from '../support/chains/killedImport.js'
import { checkDatabase, digestDatabase } from '../support/compare/checkDatabase.js'
import { temporaryDirectory } from '../support/temporary.js'

const whole = temporaryDirectory({ after })
before(() => importFixture(whole))

/** A backup of the whole chain, in a folder of its own. */
async function backUpWhole(t: { after(callback: () => void): void }): Promise<{ file: string; folder: string }> {
  const folder = temporaryDirectory(t)
  const file = join(folder, 'backup.db')
  const stdout = await runCairnOk(['backup', '--datadir', whole, file])
  assert.match(stdout, new RegExp(`^blocks 0 to ${HEAD}, \\d+ MB: checked and written to .*backup\\.db\n$`))
  return { file, folder }
}

test('a backup is one file for this user only, and restores to the same rows', async (t) => {
  const { file, folder } = await backUpWhole(t)
  assert.deepEqual(readdirSync(folder), ['backup.db'])
  assert.equal(statSync(file).mode & 0o777, 0o600)
  const datadir = join(temporaryDirectory(t), 'new')
  const stdout = await runCairnOk(['restore', '--datadir', datadir, file])
  assert.match(stdout, new RegExp(`^blocks 0 to ${HEAD}, \\d+ MB: checked and restored to `))
  assert.equal(digestDatabase(datadir), digestDatabase(whole))
  assert.equal(checkDatabase(datadir)?.number, HEAD)
})

test('backups during an import are whole chains, each of one commit', async (t) => {
  const datadir = temporaryDirectory(t)
  const folder = temporaryDirectory(t)
  await importFixture(datadir)
  await runCairnOk(['rewind', '--datadir', datadir, '--to', '1'])
  const importing = spawnCairn(['import', '--datadir', datadir, ...fixtureBlockByBlock(t)])
  const heads: number[] = []
  for (let i = 0; importing.child.exitCode === null; i++) {
    const into = join(folder, String(i))
    mkdirSync(into)
    await runCairnOk(['backup', '--datadir', datadir, join(into, DATABASE_FILE)])
    heads.push(checkDatabase(into)!.number)
  }
  assert.equal((await importing.ended).code, 0)
  assert.ok(heads.length > 0)
  assert.deepEqual(
    heads,
    heads.toSorted((a, b) => a - b),
  )
})

test('neither command replaces a file that is there, nor reads one that is no backup', async (t) => {
  const { file, folder } = await backUpWhole(t)
  const held = readFileSync(file)
  const refused = async (args: string[], message: RegExp) => {
    const { code, stderr } = await runCairn(args)
    assert.equal(code, 2, stderr)
    assert.match(stderr, message)
  }
  await refused(['backup', '--datadir', whole, file], /backup\.db is there already; nothing was replaced/)
  await refused(['restore', '--datadir', whole, file], /cairn\.db is there already; nothing was replaced/)
  assert.deepEqual(readFileSync(file), held)
  await refused(['backup', '--datadir', whole], /FILE is missing: the file to write/)
  await refused(['restore', '--datadir', whole, file, 'more'], /unexpected operand 'more'/)

  const datadir = join(folder, 'none')
  const text = join(folder, 'notes.txt')
  writeFileSync(text, 'no database')
  await refused(['restore', '--datadir', datadir, text], /notes\.txt is not a backup of Cairn/)
  assert.deepEqual(readdirSync(datadir), [])
})

test('a damaged backup is not restored', async (t) => {
  const { file, folder } = await backUpWhole(t)
  const bytes = readFileSync(file)
  bytes.fill(0xff, bytes.length >> 1, (bytes.length >> 1) + 20_000)
  for (const [name, damaged] of [
    ['overwritten', bytes],
    ['cut', bytes.subarray(0, bytes.length >> 1)],
  ] as const) {
    const path = join(folder, name)
    writeFileSync(path, damaged)
    const datadir = join(folder, `from-${name}`)
    const { code, stderr } = await runCairn(['restore', '--datadir', datadir, path])
    assert.equal(code, 1, stderr)
    assert.match(stderr, /cairn\.db|malformed/)
    assert.deepEqual(readdirSync(datadir), [])
  }
})

test('what a killed backup left behind is no hindrance, and an ended one leaves nothing', async (t) => {
  const folder = temporaryDirectory(t)
  const file = join(folder, 'backup.db')
  writeFileSync(`${file}.partial`, 'half of a copy')
  const options = { onProgress() {}, check() {} }
  await assert.rejects(backUp(whole, file, { ...options, signal: AbortSignal.abort(new Error('stopped')) }), /stopped/)
  assert.deepEqual(readdirSync(folder), [])
  writeFileSync(`${file}.partial`, 'half of a copy')
  await runCairnOk(['backup', '--datadir', whole, file])
  assert.deepEqual(readdirSync(folder), ['backup.db'])
})
