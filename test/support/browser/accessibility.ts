import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { THOROUGH } from '../thorough.js'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface AxeResults {
  violations: { id: string; nodes: { target: string[] }[] }[]
  passes: unknown[]
}

/** Rules whose outcome depends on the theme or on the width of the window. */
const RULES_OF_LOOK = ['color-contrast', 'link-in-text-block', 'scrollable-region-focusable', 'css-orientation-lock']

/** Runs axe on the page: all of its rules, or with `ofLook` those of the look. Returns its violations as
 *  `RULE: ELEMENTS`. @throws Error if axe has looked at nothing */
export async function findViolations(page: Page, { ofLook = false } = {}): Promise<string[]> {
  await page.evaluate(AXE)
  // Of what passes, axe then describes one element of each rule.
  const options = { resultTypes: ['violations'], ...(ofLook && !THOROUGH && { runOnly: RULES_OF_LOOK }) }
  const { violations, passes } = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as AxeResults
  if (passes.length === 0) throw new Error('axe passed no rule: it did not see the page')
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`)
}

/** A theme and a width of the window, in pixels. */
export interface Look {
  readonly colorScheme: 'light' | 'dark'
  readonly width: number
}

const [LIGHT, DARK, DESKTOP, PHONE] = ['light', 'dark', 1280, 390] as const

/** Each theme and each width once; all four with `npm run test:thorough`. */
export const LOOKS: readonly Look[] = [
  { colorScheme: LIGHT, width: DESKTOP },
  { colorScheme: DARK, width: PHONE },
  ...(THOROUGH
    ? [
        { colorScheme: LIGHT, width: PHONE },
        { colorScheme: DARK, width: DESKTOP },
      ]
    : []),
]

/** Returns the labels of the tables that are wider than what shows of them. */
export function cutTables(page: Page): Promise<string[]> {
  return page.evaluate(
    "[...document.querySelectorAll('.scroll')].filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.ariaLabel)",
  )
}
