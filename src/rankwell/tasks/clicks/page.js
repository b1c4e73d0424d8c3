// Interleaving: the values are of impressions, without lists.

import {registerView} from "../../reporting/page/assets/views.js";
import {say} from "./words.js";

registerView("clicks", {labels: say.labels});
