import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { formatConfigurationPage } from '../../src/cli/configurationPage.js'
import { readExamples } from '../../src/rpc/examples.js'
import { formatMethodsPages } from '../../src/rpc/methodsPage.js'
import { packagePath } from '../../src/store/open.js'

const STALE = 'the page is not current: npm run docs'

test('docs/configuration.md is made from the configuration table', () => {
  assert.ok(readFileSync(packagePath('docs/configuration.md'), 'utf8') === formatConfigurationPage(), STALE)
})

test('docs/methods.md and the page of each namespace are made from the methods', () => {
  const pages = formatMethodsPages(readExamples())
  for (const [path, text] of pages) assert.ok(readFileSync(packagePath(path), 'utf8') === text, `${path}: ${STALE}`)
  const present = readdirSync(packagePath('docs/methods')).map((name) => `docs/methods/${name}`)
  assert.deepEqual(['docs/methods.md', ...present].toSorted(), [...pages.keys()].toSorted())
})
