import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { explainFailure } from '../../src/cli/explainFailure.js'
import { withPath } from '../../src/lib/durableFiles.js'
import { CairnError, UsageError } from '../../src/lib/errors.js'
import { createMetaTable } from '../../src/store/meta.js'
import { openAnySchema } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { temporaryDirectory } from '../support/temporary.js'

/** What the failure of `work` is said to be. */
function explain(datadir: string, work: () => void): { message: string; isUsage: boolean } {
  try {
    work()
  } catch (error) {
    const explained = explainFailure(error, datadir)
    assert.ok(explained instanceof CairnError)
    return { message: explained.message, isUsage: explained instanceof UsageError }
  }
  throw new Error('it did not fail')
}

test('a file that is no database is named, and so is an empty one', (t) => {
  const datadir = temporaryDirectory(t)
  const path = join(datadir, 'cairn.db')
  writeFileSync(path, 'a text that is long enough to be taken for the header of a database')
  assert.deepEqual(
    explain(datadir, () => createMetaTable(openAnySchema(datadir)).get('x')),
    { message: `${path} is not an SQLite database; choose another --datadir`, isUsage: true },
  )
  writeFileSync(path, '')
  assert.deepEqual(
    explain(datadir, () => createMetaTable(openAnySchema(datadir)).get('x')),
    { message: `${path} has no chain in it; run 'cairn import' first, or choose another --datadir`, isUsage: true },
  )
})

test('a damaged database is a failure of the work, with what helps', (t) => {
  const datadir = temporaryDirectory(t)
  openForWriting(datadir).close()
  const error = Object.assign(new Error('database disk image is malformed'), { code: 'SQLITE_CORRUPT' })
  const { message, isUsage } = explain(datadir, () => {
    throw error
  })
  assert.match(message, /cairn\.db is damaged \(database disk image is malformed\); 'cairn verify' says where/)
  assert.equal(isUsage, false)
})

test('a path that cannot be used is named with the reason', (t) => {
  const folder = temporaryDirectory(t)
  const file = join(folder, 'file')
  writeFileSync(file, '')
  assert.deepEqual(
    explain(folder, () => mkdirSync(file, { recursive: true })),
    { message: `${file}: expected a directory, it is a file`, isUsage: true },
  )
  assert.deepEqual(
    explain(folder, () => void readdirSync(join(folder, 'none'))),
    { message: `${join(folder, 'none')}: no such file or directory`, isUsage: true },
  )
  for (const [code, words] of [
    ['EACCES', 'permission denied for this user'],
    ['EROFS', 'the file system is read-only'],
  ]) {
    const { message } = explain(folder, () => {
      throw Object.assign(new Error(code), { code, path: '/x' })
    })
    assert.equal(message, `/x: ${words}`)
  }
})

test('a full disk is named with its path and the free bytes, whatever error came of it', (t) => {
  const datadir = temporaryDirectory(t)
  const full = (code: string, fields: object = {}) => Object.assign(new Error('full'), { code, ...fields })
  const wrapped = new CairnError('chain.rlp: byte 12: cannot be read', { cause: full('SQLITE_FULL') })
  for (const [error, path] of [
    [full('SQLITE_FULL'), join(datadir, 'cairn.db')],
    [wrapped, join(datadir, 'cairn.db')],
    [full('ENOSPC', { path: '/x/logs.parquet' }), '/x/logs.parquet'],
    [full('ENOSPC', { path: '/from/a', dest: '/x/b' }), '/x/b'],
    [new CairnError('put a part', { cause: withPath(full('ENOSPC'), '/x/part') }), '/x/part'],
    [withPath(new CairnError('a copy', { cause: full('SQLITE_FULL') }), '/x/copy.db'), '/x/copy.db'],
  ] as const) {
    const { message, isUsage } = explain(datadir, () => {
      throw error
    })
    const [, named] = /^no space is left for (.+?)(, [\d,]+ bytes are free)?; free some and run the same/.exec(message)!
    assert.deepEqual([named, isUsage], [path, false])
  }
  const { message } = explain(datadir, () => {
    throw full('SQLITE_FULL')
  })
  assert.match(message, /, [\d,]+ bytes are free;/)
})

test('errors that say what they are stay as they are', () => {
  for (const error of [new UsageError('wrong'), new CairnError('failed'), new Error('ours'), 'text']) {
    assert.equal(explainFailure(error, '/data'), error)
  }
})
