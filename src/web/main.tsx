import { render } from 'preact'
import { App } from './App.js'
import { loadLabels } from './client/abis.js'
import { watchHealth } from './client/health.js'
import { followHead } from './client/live.js'
import { takeKeyFromAddress } from './client/session.js'
import { watchWallets } from './client/wallet.js'
import { followAddress } from './routing.js'
import { followTheme } from './ui/theme.js'
import './style/base.css'
import './style/frame.css'
import './style/values.css'
import './style/controls.css'
import './style/states.css'
import './style/views.css'
import './style/phone.css'

followTheme()
takeKeyFromAddress()
addEventListener('hashchange', takeKeyFromAddress)
followAddress()
followHead()
watchHealth()
loadLabels()
watchWallets()
render(<App />, document.getElementById('app')!)
