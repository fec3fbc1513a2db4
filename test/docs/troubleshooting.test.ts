import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { packagePath } from '../../src/store/open.js'

const page = readFileSync(packagePath('docs/troubleshooting.md'), 'utf8')

/** Texts of the program in first cells: in code, with a space and no option, and `…` for what varies. */
function messages(): string[] {
  const cells = Array.from(page.matchAll(/^\| ((?:[^|`]|`[^`]*`)+) \|/gm), ([, cell]) => cell)
  const codes = cells.flatMap((cell) => Array.from(cell.matchAll(/`([^`]+)`/g), ([, code]) => code))
  return codes.filter((code) => / /.test(code) && !/^(?:cairn|verified:)/.test(code))
}

/** The source with broken strings joined and embedded expressions as `…`. */
function sourceText(): string {
  const files = ['src', 'scripts'].flatMap((folder) =>
    readdirSync(packagePath(folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(ts|mjs)$/.test(name))
      .map((name) => readFileSync(join(packagePath(folder), name), 'utf8')),
  )
  return files.join('\n').replace(/['"`] \+\s+['"`]/g, '')
}

test('every message on the page of troubleshooting is one of the program', () => {
  const source = sourceText()
  const found = messages()
  assert.ok(found.length > 40, `only ${found.length} messages`)
  const unknown = found.filter((message) => {
    const parts = message.split('…').map((part) => part.replace(/^\W+|\W+$/g, ''))
    return !parts.filter((part) => part.length > 3).every((part) => source.includes(part))
  })
  assert.deepEqual(unknown, [])
})
