import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { test } from 'node:test'
import { packagePath } from '../../src/store/open.js'

const root = dirname(packagePath('package.json'))

/** Markdown pages at the root and below docs/. */
function listPages(): string[] {
  const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) => join('docs', name))
  return [...readdirSync(root), ...docs].filter((name) => name.endsWith('.md')).map((name) => join(root, name))
}

const withoutCode = (text: string) =>
  text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, (code) => code.slice(1, -1))

/** What a heading is linked by: lower case, no punctuation, hyphens for spaces. */
function anchorsOf(path: string): Set<string> {
  const headings = withoutCode(readFileSync(path, 'utf8')).matchAll(/^#+ (.*)$/gm)
  return new Set(
    Array.from(headings, ([, text]) =>
      text
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  )
}

test('every relative link of the pages leads to a file, and its anchor to a heading', () => {
  const broken: string[] = []
  let checked = 0
  for (const page of listPages()) {
    const text = readFileSync(page, 'utf8').replace(/^```[\s\S]*?^```/gm, '')
    for (const [, target] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue
      checked++
      const [file, anchor] = target.split('#')
      const path = file === '' ? page : resolve(dirname(page), file)
      const good = existsSync(path) && (anchor === undefined || anchorsOf(path).has(anchor))
      if (!good) broken.push(`${relative(root, page)}: ${target}`)
    }
  }
  assert.ok(checked > 20, `only ${checked} links found`)
  assert.deepEqual(broken, [])
})

test('the README leads to every page', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'))
  assert.deepEqual(
    pages.filter((name) => !readme.includes(`(docs/${name})`)),
    [],
  )
})

test('every source, script and page that the pages name in code is there', () => {
  const missing: string[] = []
  for (const page of listPages()) {
    for (const [, path] of readFileSync(page, 'utf8').matchAll(
      /`((?:src|test|scripts|docs|fixtures|migrations)\/[\w./-]+)`/g,
    )) {
      if (!existsSync(join(root, path))) missing.push(`${relative(root, page)}: ${path}`)
    }
  }
  assert.deepEqual(missing, [])
})

test('every npm script that the pages name exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object }
  const named = listPages().flatMap((page) =>
    Array.from(readFileSync(page, 'utf8').matchAll(/\bnpm run\s+(?:-s )?([a-z0-9:-]+)/g), ([, name]) => name),
  )
  assert.ok(named.length > 20, `${named.length}`)
  assert.deepEqual(
    named.filter((name) => !(name in scripts)),
    [],
  )
})

test('every module of src that the pages name by its path below src is there', () => {
  const folders = readdirSync(join(root, 'src')).join('|')
  const missing: string[] = []
  let checked = 0
  for (const page of [
    'architecture',
    'contributing',
    'glossary',
    'testing',
    'benchmarks',
    'replication',
    'verification',
  ]) {
    const text = readFileSync(join(root, 'docs', `${page}.md`), 'utf8')
    for (const [, path] of text.matchAll(new RegExp(`\`((?:${folders})/[\\w/]+)\``, 'g'))) {
      checked++
      if (!existsSync(join(root, 'src', path)) && !existsSync(join(root, 'src', `${path}.ts`))) {
        missing.push(`${page}: ${path}`)
      }
    }
  }
  assert.ok(checked > 0, 'no module found')
  assert.deepEqual(missing, [])
})
