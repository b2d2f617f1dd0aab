/** Room: the start of the console in a browser. It imports only console/styles and console/layout. */

// The console: a web application over the API of the service that serves it. It imports no code of the service; the API is their only
// common interface. Each page is a room of its own, and is loaded when it is first shown.

import { render } from 'preact'
import './styles/base.css'
import './styles/controls.css'
import './styles/layout.css'
import './styles/parts.css'
import './styles/screens.css'
import './styles/pictures.css'
import { Layout } from './layout/layout.js'

const root = document.getElementById('console')
if (root) render(<Layout />, root)
