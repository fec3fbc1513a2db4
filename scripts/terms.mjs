// `node scripts/terms.mjs [PATH...]`: counts words that have a standard term (docs/glossary.md), by word and by folder, and with
// --lines prints where they are. test/docs/terms.test.ts keeps the counts from growing.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Words, as regular expressions, and what to write instead. */
export const TERMS = [
  [/\b(?:told|tells?|telling)\b/gi, 'notified, reports'],
  [/\b(?:not held|[A-Za-z]*NotHeld|[A-Z_]*NOT_HELD|firstHeld|isHeld)\b/g, 'available, unavailable'],
  [/\banew\b/gi, 'again, rebuilt'],
  [/\b(?:lied|liars?|[A-Za-z]*Lied)\b/g, 'invalid response'],
  [/\bput(?:s|ting)? (?:it |them )?aside\b/gi, 'quarantined'],
  [/\b(?:goes|go|went|going) on\b/gi, 'resumes, continues'],
  [/\b(?:nobody|somebody|strangers?)\b/gi, 'no waiter, another process, untrusted clients'],
  [/\b(?:so much of|so long as|so many)\b/gi, 'at most, while'],
  [/\b(?:there is none|of which)\b/gi, 'missing, whose'],
  [/\b(?:lay|lays)(?:Genesis|First)\b/g, 'initGenesis, initFirstBlock'],
  [/\b(?:setBack|setTrieBack|wasSetBack)\b/g, 'unwind'],
  [
    /\b(?:intake|[Gg]ivenBlock|whenIdle|findKeeper|roleKeeper|keepRoles)\b/g,
    'BlockAppender, UnexecutedBlock, flushOnIdle, …',
  ],
]

/** Where words are counted: folders and files below the root. */
const PLACES = ['src', 'test', 'bench', 'tools', 'scripts', 'docs', 'deploy', 'README.md']
/** Files that quote the words. */
const QUOTES = new Set(['scripts/terms.mjs', 'test/docs/terms.test.ts'])

/** Returns where files at or below the paths have such a word, as `{ path, line, text, word, instead }`, in order. */
export function findTerms(paths) {
  const found = []
  for (const path of paths.flatMap(filesBelow).filter((name) => !QUOTES.has(name))) {
    for (const [i, text] of readFileSync(join(ROOT, path), 'utf8').split('\n').entries()) {
      for (const [word, instead] of TERMS) {
        for (const [match] of text.matchAll(word)) {
          found.push({ path, line: i + 1, text: text.trim(), word: match, instead })
        }
      }
    }
  }
  return found
}

function filesBelow(path) {
  if (!statSync(join(ROOT, path)).isDirectory()) return [path]
  const names = readdirSync(join(ROOT, path), { recursive: true }).map((name) => join(path, name).replaceAll('\\', '/'))
  return names.filter((name) => /\.(tsx?|mjs|md|conf|service|yml)$/.test(name)).sort()
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const args = process.argv.slice(2)
  const paths = args.filter((arg) => !arg.startsWith('--'))
  const found = findTerms(paths.length > 0 ? paths : PLACES)
  if (args.includes('--lines')) {
    for (const { path, line, word, instead, text } of found)
      console.log(`${path}:${line}: ${word} (${instead}): ${text}`)
  }
  const count = (keyOf) => {
    const counts = new Map()
    for (const each of found) counts.set(keyOf(each), (counts.get(keyOf(each)) ?? 0) + 1)
    return [...counts].toSorted((a, b) => b[1] - a[1])
  }
  for (const [folder, n] of count(({ path }) => path.split('/').slice(0, 2).join('/'))) console.log(`${n}\t${folder}`)
  console.log(`${found.length}\tall`)
}
