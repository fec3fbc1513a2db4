import { readFileSync } from 'node:fs'
import { packagePath } from '../../src/store/open.js'
import { COSTS } from './costs.js'
import { forecast, STATES } from './forecast.js'
import { NETWORKS } from './networks.js'
import { formatCosts, formatCounts, formatForecasts } from './tables.js'

const TABLES: { readonly [name: string]: () => string[] } = {
  forecasts: () =>
    formatForecasts(NETWORKS.flatMap((network) => STATES.map((state) => forecast(network, state, COSTS)))),
  figures: () => formatCounts(NETWORKS),
  costs: () => formatCosts(COSTS),
}

/** Returns docs/sizing.md with the tables of the networks as `npm run sizing -- --sources` prints them. @throws Error
 *  where the page lacks the place of a table */
export function formatSizingPage(): string {
  let page = readFileSync(packagePath('docs/sizing.md'), 'utf8')
  for (const [name, format] of Object.entries(TABLES)) {
    const [begin, end] = [`<!-- ${name}: made by npm run docs -->`, `<!-- end of ${name} -->`]
    const [from, to] = [page.indexOf(begin), page.indexOf(end)]
    if (from < 0 || to < from) throw new Error(`docs/sizing.md: expected ${begin} and ${end}`)
    page = `${page.slice(0, from + begin.length)}\n\n${format().join('\n')}\n\n${page.slice(to)}`
  }
  return page
}
