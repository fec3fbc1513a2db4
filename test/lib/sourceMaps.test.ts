import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { transformSync } from 'esbuild'
import { describeError } from '../../src/lib/errors.js'
import { mapStack } from '../../src/lib/sourceMaps.js'
import { packagePath } from '../../src/store/open.js'
import { temporaryDirectory } from '../support/temporary.js'

test('a stack names places in sources, where a file has a source map', async (t) => {
  const folder = temporaryDirectory(t)
  const source = `interface Unused { a: number }\n\nexport function fail(): never {\n  throw new Error('no')\n}\n`
  // Without the comment that names the map, by which Node would use it itself.
  const { code, map } = transformSync(source, { loader: 'ts', sourcefile: 'failing.ts', sourcemap: 'external' })
  writeFileSync(join(folder, 'failing.js'), code)
  writeFileSync(join(folder, 'failing.js.map'), map)
  const { fail } = (await import(pathToFileURL(join(folder, 'failing.js')).href)) as { fail: () => never }
  const error = (() => {
    try {
      fail()
    } catch (error) {
      return error as Error
    }
  })()
  assert.match(error!.stack!, /failing\.js:2:/)
  assert.match(describeError(error), /^Error: no\n +at fail \(file:\S+\/failing\.ts:4:9\)\n/)
})

test('places in files without a source map stay as they are', () => {
  const stack = `Error: no\n    at f (file:///nowhere/a.js:1:2)\n    at node:internal/main:3:4`
  assert.equal(mapStack(stack), stack)
})

test('places in the built program are mapped to its sources', () => {
  const path = packagePath('dist/cli/main.js')
  const lines = readFileSync(path, 'utf8').split('\n')
  const line = lines.findIndex((text) => text.startsWith('process.exitCode = argv[0]')) + 1
  assert.ok(line > 0)
  const place = /(\S+):(\d+):1$/.exec(mapStack(`    at ${pathToFileURL(path)}:${line}:1`))
  assert.ok(place, 'not mapped')
  assert.equal(place[1], pathToFileURL(packagePath('src/cli/main.ts')).href)
  const source = readFileSync(packagePath('src/cli/main.ts'), 'utf8').split('\n')
  assert.match(source[Number(place[2]) - 1], /^process\.exitCode =$/)
})
