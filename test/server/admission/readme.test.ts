import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { packagePath } from '../../../src/store/open.js'

const PAGE = readFileSync(packagePath('src/server/admission/README.md'), 'utf8')

/** Folders in which the page names files. */
const FOLDERS = ['src/server/admission', 'src/server', 'src', 'src/workers/pool']

/** The source of a file as the page names it; undefined where it does not exist. */
function readNamed(name: string): string | undefined {
  const path = FOLDERS.map((folder) => join(packagePath(folder), name)).find((each) => existsSync(each))
  return path && readFileSync(path, 'utf8')
}

test('each bound on the page of admission is in a file of its row', () => {
  const rows = PAGE.split('\n').filter((line) => line.startsWith('| ') && line.includes('.ts'))
  assert.ok(rows.length > 15, `${rows.length} rows`)
  for (const row of rows) {
    const files = [...row.matchAll(/`([\w/]+\.ts)`/g)].map(([, name]) => name)
    const sources = files.map((name) => readNamed(name) ?? assert.fail(`no file ${name}`)).join('\n')
    for (const [, constant] of row.matchAll(/`([A-Z][A-Z_]+)`/g)) {
      assert.match(sources, new RegExp(`\\b${constant}\\b`), `${constant} in ${files}`)
    }
  }
})
