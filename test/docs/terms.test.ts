import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { packagePath } from '../../src/store/open.js'

interface FoundTerm {
  readonly path: string
  readonly line: number
  readonly word: string
  readonly instead: string
}

interface TermsScript {
  findTerms(paths: readonly string[]): FoundTerm[]
  readonly TERMS: readonly (readonly [RegExp, string])[]
}

const { findTerms, TERMS }: TermsScript = await import(pathToFileURL(packagePath('scripts/terms.mjs')).href)

/** Most words of each folder that have a standard term. A number may only fall. */
const MOST: { readonly [folder: string]: number } = { src: 2, test: 2, tools: 3, bench: 0, docs: 0, deploy: 0 }

for (const [folder, most] of Object.entries(MOST)) {
  test(`${folder} uses the terms of the glossary`, () => {
    const found = findTerms([folder]).map(({ path, line, word, instead }) => `${path}:${line}: ${word} (${instead})`)
    assert.ok(found.length <= most, `more than ${most}:\n${found.join('\n')}`)
  })
}

test('finds words of each kind', () => {
  const text = 'told isHeld anew lied put aside goes on nobody so many there is none layGenesis setBack intake'
  for (const [word, instead] of TERMS) assert.match(text, new RegExp(word.source, 'i'), instead)
})
