import assert from 'node:assert/strict'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after } from 'node:test'
import { type Browser, chromium, type Page } from 'playwright-core'
import { packagePath } from '../../../src/store/open.js'
import { THOROUGH } from '../thorough.js'

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium'

/** Why tests in a browser are skipped; false where they run. */
export const SKIP_BROWSER: string | false = existsSync(CHROMIUM) ? false : `needs ${CHROMIUM}: apt-get install chromium`

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // One process for all documents of a tab: a new one for each visit takes as long as the visit.
  '--disable-features=site-per-process,IsolateOrigins,SpareRendererForSitePerProcess',
  '--disable-site-isolation-trials',
  '--renderer-process-limit=1',
]

/** A busy machine takes its time. */
const TIMEOUT_MS = 30_000

const SERVER_GONE = /ERR_CONNECTION_(REFUSED|RESET)|ERR_EMPTY_RESPONSE|WebSocket connection to/

/** What a page did that it must not do. */
interface Offences {
  /** Requests to another origin than the server's. */
  readonly foreign: string[]
  /** Exceptions, and violations of the Content-Security-Policy. */
  readonly errors: string[]
}

/** A tab with a profile of its own. */
export interface Tab {
  readonly page: Page
  /** URLs of all requests, those of WebSockets included. */
  readonly requests: readonly string[]
  /** Goes to a place of the page as a link from elsewhere does. */
  visit(fragment: string): Promise<void>
  /** Waits until the view's heading is this one. */
  untilTitle(title: string | RegExp): Promise<void>
  /** With `npm run test:thorough`, saves what is seen as `NAME.png`. */
  shoot(name: string): Promise<void>
  /** Pixels by which the page is wider than the window. */
  overflow(): Promise<number>
}

/** Started by the first test that opens a tab: a browser takes longer than most tests. */
let browserOfFile: Promise<Browser> | undefined
after(async () => {
  await (await browserOfFile)?.close()
})

type After = { after(callback: () => void | Promise<void>): void }

/** Opens a tab at a server, with a profile of its own. When the test ends it is closed, and it is checked that no
 *  request went to another host, no script failed and no policy was violated. */
export async function openTab(
  t: After,
  url: string,
  view: { width?: number; height?: number; colorScheme?: 'light' | 'dark'; expectErrors?: boolean } = {},
): Promise<Tab> {
  const { width = 1280, height = 900, colorScheme = 'light' } = view
  browserOfFile ??= chromium.launch({ executablePath: CHROMIUM, args: FLAGS })
  const browser = await browserOfFile
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, acceptDownloads: true })
  context.setDefaultTimeout(TIMEOUT_MS)
  const page = await context.newPage()
  const requests: string[] = []
  const offences = watch(page, url, requests)
  t.after(async () => {
    await context.close()
    assert.deepEqual(offences.foreign, [], 'requests to other hosts')
    if (view.expectErrors !== true) assert.deepEqual(offences.errors, [], 'errors in the page')
  })
  return {
    page,
    requests,
    async visit(fragment) {
      await page.goto('about:blank')
      await page.goto(`${url}/${fragment}`)
    },
    async untilTitle(title) {
      await page.getByRole('heading', { level: 1, name: title }).waitFor()
    },
    async shoot(name) {
      if (!THOROUGH) return
      const folder = packagePath('build/screenshots')
      mkdirSync(folder, { recursive: true })
      await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
    },
    overflow: () => page.evaluate('document.documentElement.scrollWidth - innerWidth'),
  }
}

function watch(page: Page, url: string, requests: string[]): Offences {
  const offences: Offences = { foreign: [], errors: [] }
  const { host } = new URL(url)
  const note = (requested: string) => {
    requests.push(requested)
    const { protocol, host: asked } = new URL(requested)
    if (!['blob:', 'about:'].includes(protocol) && asked !== host) offences.foreign.push(requested)
  }
  page.on('request', (request) => note(request.url()))
  page.on('websocket', (socket) => note(socket.url()))
  page.on('pageerror', (error) => offences.errors.push(error.message))
  page.on('console', (message) => {
    // The server of a test may end before its browser.
    if (message.type() === 'error' && !SERVER_GONE.test(message.text())) offences.errors.push(message.text())
  })
  return offences
}
