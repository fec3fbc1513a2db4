import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface AxeResults {
  violations: { id: string; nodes: { target: string[] }[] }[]
  passes: unknown[]
}

/** Runs axe on the page. Returns its violations as `RULE: ELEMENTS`. @throws Error if axe has looked at nothing */
export async function findViolations(page: Page): Promise<string[]> {
  await page.evaluate(AXE)
  const { violations, passes } = (await page.evaluate('axe.run(document)')) as AxeResults
  if (passes.length === 0) throw new Error('axe passed no rule: it did not see the page')
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`)
}
