import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { packagePath } from '../../src/store/open.js'
import { formatExportPage } from '../../tools/datasetTables.js'

test('the export page has the datasets and their columns', () => {
  const page = readFileSync(packagePath('docs/export.md'), 'utf8')
  assert.equal(page, formatExportPage(), 'run npm run docs')
  assert.match(page, /### storage-diffs\n/)
})
