// @page impression/impressions
// Interleaving: the values are of impressions, without lists.

import {registerView} from "../../report/page/assets/views.js";

registerView("logs", {});
