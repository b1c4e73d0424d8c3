// Pairs: two numbers each, without lists; what they should score stands beside their similarities.

import {registerView} from "../../reporting/page/assets/views.js";
import {say} from "./words.js";

registerView("pairs", {labels: say.labels});
