import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { fileURLToPath } from 'node:url'
import { memoize } from './memoize.js'

/* The built program is bundled, so stacks name places in bundles. Node's own `--enable-source-maps` reads the map of
 * every file that it loads, which takes longer than loading them; here maps are read when a stack is shown. */

const PLACE = /(file:\/\/[^\s():]+\.js):(\d+):(\d+)/g

const mapOf = memoize((url: string): SourceMap | undefined => {
  try {
    return new SourceMap(JSON.parse(readFileSync(fileURLToPath(`${url}.map`), 'utf8')))
  } catch {
    return undefined // a module without a map
  }
})

/** Maps the places of a stack to the sources, for files with a source map beside them, as `FILE.map`. */
export function mapStack(stack: string): string {
  return stack.replaceAll(PLACE, (place, url: string, line: string, column: string) => {
    const entry = mapOf(url)?.findEntry(Number(line) - 1, Number(column) - 1)
    if (entry === undefined || !('originalSource' in entry)) return place
    const source = new URL(entry.originalSource, url).href
    return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`
  })
}
